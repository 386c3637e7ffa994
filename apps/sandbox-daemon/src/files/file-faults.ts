import { Failure, invalid } from '@automation/errors'
import { tmpdir } from 'node:os'
import { home } from '../home.ts'

/** What a file operation threw, as callers are told; `field` names the path in question. */
export function fileFault(error: unknown, field: string): unknown {
  const options = { cause: error }
  const { code = '', syscall } = error as NodeJS.ErrnoException
  if (syscall === 'read' && ['EIO', 'ESRCH'].includes(code))
    return new Failure('failed_precondition', 'not_a_file', 'The kernel does not give this as a file', options)
  switch (code) {
    case 'ENOENT':
      return new Failure('not_found', 'path_not_found', 'There is no such file or directory', options)
    case 'EEXIST':
    case 'ERR_FS_CP_EEXIST':
      return new Failure('already_exists', 'path_exists', 'There is something at this path already', options)
    case 'ENOTDIR':
      return new Failure('failed_precondition', 'not_a_directory', 'This is no directory', options)
    case 'EISDIR':
    case 'ENXIO':
      return new Failure('failed_precondition', 'not_a_file', 'This is no file', options)
    case 'ENOTEMPTY':
      return new Failure(
        'failed_precondition',
        'directory_not_empty',
        'The directory is not empty: with `recursive` it goes with all that is in it',
        options,
      )
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'EBUSY':
      return pathDenied(options)
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
    case 'EMFILE':
      return new Failure('resource_exhausted', 'no_space', 'The sandbox has no space for this', options)
    case 'ENAMETOOLONG':
    case 'ELOOP':
    case 'EINVAL':
    case 'ERR_FS_CP_EINVAL':
      return invalid(field, 'is no path that can be used here')
    default:
      return error
  }
}

/** Runs a file operation; its errors are told as faults of `field`. */
export async function faulting<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw fileFault(error, field)
  }
}

/** Failure: a path that a sandbox may not use so. */
export function pathDenied(options: { cause: unknown }): Failure {
  const text = `This path is not for the sandbox to use so; its own are below ${home} and ${tmpdir()}`
  return new Failure('permission_denied', 'path_denied', text, options)
}

/** Failure: a folder or a device where a file is wanted. */
export function notAFile(): Failure {
  return new Failure('failed_precondition', 'not_a_file', 'This is no file')
}
