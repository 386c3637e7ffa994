import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Failure } from '@automation/errors'

const launcher = fileURLToPath(new URL('launch.py', import.meta.url))

/**
 * Starts a program of PostgreSQL on a data folder that is there already. It gets a session of its own (a Ctrl-C in the
 * terminal is for the service, which stops it in its turn) and ends with this process, however this process ends.
 */
export function launch(dataDir: string, program: string, args: string[]): ChildProcess {
  return spawn('python3', ['-I', '-S', launcher, String(process.pid), dataDir, program, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
    // With MALLOC_PERTURB_, glibc overwrites freed memory: tests find who reads it.
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC', MALLOC_PERTURB_: process.env['MALLOC_PERTURB_'] },
  })
}

/** Calls `onLine` for each line on the child's stderr; the promise resolves when the child is gone, with its code. */
export function followed(child: ChildProcess, onLine: (line: string) => void): Promise<number | NodeJS.Signals | null> {
  const { promise, resolve, reject } = Promise.withResolvers<number | NodeJS.Signals | null>()
  if (child.stderr !== null) createInterface(child.stderr).on('line', onLine)
  child.once('error', (error: NodeJS.ErrnoException) => {
    reject(error.code === 'ENOENT' ? notStarted('python3 is not on the PATH. Install Python 3', error) : error)
  })
  child.once('close', (code, signal) => resolve(code ?? signal))
  return promise
}

/** What to do about what a program of PostgreSQL has said, where that is known. */
export function knownRemedy(said: string): string | undefined {
  if (/No space left on device|Disk quota exceeded/.test(said))
    return 'the disk of DATA_DIR is full. Make room there, or start with another DATA_DIR'
  if (said.includes('insufficient file descriptors'))
    return 'this process may open too few files. Raise its limit to 65536 (ulimit -n)'
  return undefined
}

/** PostgreSQL could not be started; `reason` says what to do about it. */
export function notStarted(reason: string, cause?: unknown): Failure {
  return new Failure('failed_precondition', 'postgres_not_started', `PostgreSQL can't be started: ${reason}`, { cause })
}
