import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import type { CommandStart } from '@automation/contract/sandbox/v1/daemon'
import { Failure, invalid } from '@automation/errors'
import { home, pathFrom } from '../home.ts'
import { beFirstOutOfMemory, mark } from './processes.ts'
import { onTerminal, type OnTerminal } from './terminal.ts'

/** The process of a command; `resize` where it has a terminal. */
export type Spawned = Pick<OnTerminal, 'child'> & Partial<OnTerminal>

/** Starts the process of a command, in a session of its own. `id` marks it and all that it starts. */
export async function spawned(start: CommandStart, id: string, environment: Record<string, string>): Promise<Spawned> {
  const [program = '', ...args] = start.command
  if (program === '') throw invalid('/start/command', 'must name a program')
  if (start.command.some((word) => word.includes('\0'))) throw invalid('/start/command', 'must not contain NUL')
  for (const [name, value] of Object.entries(start.environment))
    if (name === '' || /[=\0]/.test(name) || value.includes('\0'))
      throw invalid('/start/environment', 'must have names without "=" and no NUL')
  const cwd = start.workingDirectory === undefined ? home : pathFrom('/start/working_directory', start.workingDirectory)
  await checkDirectory(cwd)
  const env = { ...ownEnvironment(), HOME: home, ...environment, ...start.environment, [mark]: id }
  try {
    if (start.pty !== undefined) return await onTerminal(start.command, start.pty, { cwd, env }, beFirstOutOfMemory)
    const child = spawn(program, args, { cwd, env, detached: true, stdio: 'pipe' })
    if (child.pid === undefined) await once(child, 'spawn')
    beFirstOutOfMemory(child.pid!)
    return { child }
  } catch (error) {
    if (error instanceof Failure) throw error
    throw refusal(program, error as NodeJS.ErrnoException)
  }
}

/** What an image or the driver has set for all, without what is the daemon's own. */
function ownEnvironment(): Record<string, string | undefined> {
  const own = Object.entries(process.env).filter(([name]) => !/^(DAEMON_|NODE_)/.test(name))
  return { PATH: '/usr/local/bin:/usr/bin:/bin', ...Object.fromEntries(own) }
}

async function checkDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isDirectory()) throw invalid('/start/working_directory', 'is no directory', 'working_directory_not_found')
}

function refusal(program: string, error: NodeJS.ErrnoException): Failure {
  const name = JSON.stringify(program.slice(0, 200))
  switch (error.code) {
    case 'ENOENT':
      return new Failure('not_found', 'program_not_found', `There is no program ${name}`, { cause: error })
    case 'EACCES':
    case 'EPERM':
      return new Failure('permission_denied', 'program_denied', `${name} can't be executed`, { cause: error })
    case 'E2BIG':
      return invalid('/start/command', 'is too long together with the environment')
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENOMEM':
      return new Failure('resource_exhausted', 'too_many_processes', 'The sandbox can start no more processes', {
        cause: error,
      })
    default:
      return new Failure('failed_precondition', 'program_failed', `${name} could not be started`, { cause: error })
  }
}
