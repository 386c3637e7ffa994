import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const launcherPath = fileURLToPath(new URL('../../launcher/launcher.py', import.meta.url))
const javascriptPath = fileURLToPath(new URL('../../children/javascript/main.js', import.meta.url))
const directoryPrefix = 'automation-runner-'

const MB = 1024 * 1024
// Node's own share of RLIMIT_DATA before any user code (measured: 560 MiB), and room for threads and compiled code.
const nodeDataMb = 560
const dataSlackMb = 128

/** A started child: its channels, and how it ended once `process` has closed. */
export interface Launched {
  process: ChildProcess
  output: Readable
  errors: Readable
  frames: Duplex
  answers: Readable
  control: Duplex
}

/** Starts children, each under a launcher that ends everything below it. */
export class Launcher {
  readonly #python: string
  readonly #root: string
  readonly #memoryMb: number
  #count = 0

  private constructor(python: string, root: string, memoryMb: number) {
    this.#python = python
    this.#root = root
    this.#memoryMb = memoryMb
  }

  /** Finds Python, and makes the directory that holds the private ones. Throws words for people where there is none. */
  static async prepare(python: string, tmpDir: string, memoryMb: number): Promise<Launcher> {
    const interpreter = await interpreterOf(python)
    removeLeftOvers(tmpDir)
    const root = mkdtempSync(join(tmpDir, `${directoryPrefix}${process.pid}-`))
    return new Launcher(interpreter, root, memoryMb)
  }

  /** Starts a blank JavaScript child. */
  javascript(): Launched {
    const scratch = join(this.#root, String((this.#count += 1)))
    mkdirSync(scratch, { mode: 0o700 })
    const dataLimit = (nodeDataMb + dataSlackMb + this.#memoryMb) * MB
    const node = [process.execPath, `--max-old-space-size=${this.#memoryMb}`, '--disable-sigusr1', javascriptPath]
    const child = spawn(this.#python, ['-I', '-S', launcherPath, String(dataLimit), scratch, ...node], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
      cwd: '/',
      // The service's own environment never reaches process code.
      env: { PATH: `${join(process.execPath, '..')}:/usr/local/bin:/usr/bin:/bin`, LANG: 'C.UTF-8', TZ: 'UTC' },
    })
    const [, output, errors, frames, answers, control] = child.stdio as unknown[]
    return { process: child, output, errors, frames, answers, control } as Launched
  }

  close(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}

/** The interpreter itself: what the PATH has may be a script that takes longer than Python. */
async function interpreterOf(python: string): Promise<string> {
  try {
    const program = 'import sys, _ctypes, resource; print(sys.executable)'
    const { stdout } = await promisify(execFile)(python, ['-I', '-S', '-c', program])
    return stdout.trim()
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

/** Directories of runners that were killed. */
function removeLeftOvers(tmpDir: string): void {
  for (const name of readdirSync(tmpDir)) {
    const pid = name.startsWith(directoryPrefix) ? name.slice(directoryPrefix.length).split('-')[0] : undefined
    if (pid !== undefined && !existsSync(`/proc/${pid}`) && existsSync('/proc/self'))
      rmSync(join(tmpDir, name), { recursive: true, force: true })
  }
}
