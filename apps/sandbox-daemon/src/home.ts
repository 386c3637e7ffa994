import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { invalid } from '@automation/errors'

/** The home directory of the sandbox. */
export const home = process.env['HOME'] || homedir()

/** A path of a request as an absolute one; relative ones begin at the home directory. `field` names it in the refusal. */
export function pathFrom(field: string, path: string): string {
  if (path === '') throw invalid(field, 'is required')
  if (path.includes('\0')) throw invalid(field, 'must not contain NUL')
  return isAbsolute(path) ? resolve(path) : resolve(home, path)
}
