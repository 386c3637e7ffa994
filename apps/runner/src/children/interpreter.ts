import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const oldest = [3, 11]

/** The Python of this machine. */
export interface Interpreter {
  path: string
  version: string
  /** Why Python processes can't run on it, in words; undefined when they can. */
  tooOld: string | undefined
}

/** Finds the interpreter itself: what the PATH has may be a script that takes longer than Python. Throws words for people. */
export async function findInterpreter(python: string): Promise<Interpreter> {
  try {
    const program =
      'import sys, _ctypes, _socket, fcntl, resource; print(sys.executable); print(*sys.version_info[:3], sep=".")'
    const { stdout } = await promisify(execFile)(python, ['-I', '-S', '-c', program])
    const [path = '', version = ''] = stdout.trim().split('\n')
    return { path, version, tooOld: isOlder(version) ? wordsOn(version) : undefined }
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new Error(
      missing
        ? `The runner needs Python 3 to start process code, and found no '${python}'. Install python3, or name it in RUNNER_PYTHON.`
        : `The runner needs Python 3 with ctypes to start process code; '${python}' failed: ${String(error)}`,
      { cause: error },
    )
  }
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < oldest[0]! || (major === oldest[0] && minor < oldest[1]!)
}

function wordsOn(version: string): string {
  return `Python processes need Python ${oldest.join('.')} or later; this runner has ${version} (RUNNER_PYTHON)`
}
