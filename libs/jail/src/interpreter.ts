import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** The Python of this machine. */
export interface Interpreter {
  path: string
  /** Such as 3.11.2. */
  version: string
}

/** Finds the interpreter itself: what the PATH has may be a script that takes longer than Python. Throws words for people. */
export async function findInterpreter(python: string): Promise<Interpreter> {
  try {
    const program =
      'import sys, _ctypes, _socket, fcntl, resource; print(sys.executable); print(*sys.version_info[:3], sep=".")'
    const { stdout } = await promisify(execFile)(python, ['-I', '-S', '-c', program])
    const [path = '', version = ''] = stdout.trim().split('\n')
    return { path, version }
  } catch (error) {
    const missing = ['ENOENT', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')
    throw new Error(
      missing
        ? `The service needs Python 3 to start users' code, and found no '${python}'. Install python3, or name it in RUNNER_PYTHON.`
        : `The service needs Python 3 with ctypes to start users' code; '${python}' failed: ${String(error)}`,
      { cause: error },
    )
  }
}
