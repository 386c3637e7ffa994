import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants, existsSync, mkdtempSync, openSync, readdirSync, rmSync, unlinkSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Logger } from '@automation/service'
import { Reception } from './reception.ts'
import { Starter } from './starter.ts'

const javascriptPath = fileURLToPath(new URL('../../children/javascript/main.js', import.meta.url))
const directoryPrefix = 'automation-runner-'

const MB = 1024 * 1024
// Node's own share of RLIMIT_DATA before any user code (measured: 560 MiB), and room for threads and compiled code.
const nodeDataMb = 560
const dataSlackMb = 128

/** The channels of a started child; `control` is its launcher's. */
export interface Launched {
  output: Socket
  errors: Socket
  frames: Socket
  answers: Socket
  control: Socket
}

export interface LauncherOptions {
  python: string
  tmpDir: string
  memoryMb: number
  logger: Logger
}

/** Starts children, each under a launcher that ends everything below it. */
export class Launcher {
  readonly #root: string
  readonly #memoryMb: number
  readonly #reception: Reception
  readonly #starter: Starter
  #count = 0

  private constructor(root: string, memoryMb: number, reception: Reception, starter: Starter) {
    this.#root = root
    this.#memoryMb = memoryMb
    this.#reception = reception
    this.#starter = starter
  }

  /** Finds Python, and makes the directory that holds the private ones. Throws words for people where there is none. */
  static async prepare({ python, tmpDir, memoryMb, logger }: LauncherOptions): Promise<Launcher> {
    const interpreter = await interpreterOf(python)
    removeLeftOvers(tmpDir, logger)
    const root = mkdtempSync(join(tmpDir, `${directoryPrefix}${process.pid}-`))
    const reception = await Reception.open(join(root, 'socket'))
    return new Launcher(root, memoryMb, reception, new Starter(interpreter, logger))
  }

  /** Starts a blank JavaScript child; rejects when it does not come. */
  async javascript(): Promise<Launched> {
    const token = randomBytes(16).toString('hex')
    const scratch = join(this.#root, String((this.#count += 1)))
    const coming = this.#reception.expect(token)
    this.#order(token, scratch)
    const [frames, answers, control] = await coming
    const open: Socket[] = [frames, answers, control]
    try {
      for (const name of ['1', '2']) open.push(readerOf(`${scratch}.${name}`))
    } catch (error) {
      // Its launcher ends with its control channel.
      for (const socket of open) socket.destroy()
      throw error
    }
    control.write('G')
    return { output: open[3]!, errors: open[4]!, frames, answers, control }
  }

  #order(token: string, scratch: string): void {
    const order = {
      socket: this.#reception.path,
      token,
      scratch,
      dataLimit: (nodeDataMb + dataSlackMb + this.#memoryMb) * MB,
      program: [process.execPath, `--max-old-space-size=${this.#memoryMb}`, '--disable-sigusr1', javascriptPath],
      // The service's own environment never reaches process code.
      environment: { PATH: `${join(process.execPath, '..')}:/usr/local/bin:/usr/bin:/bin`, LANG: 'C.UTF-8', TZ: 'UTC' },
    }
    try {
      this.#starter.order(order)
    } catch (error) {
      this.#reception.giveUp(token, error as Error)
    }
  }

  /** Nothing more is started: what is on its way is given up. */
  refuse(): void {
    this.#reception.close()
  }

  close(): void {
    this.#starter.close()
    this.#reception.close()
    rmSync(this.#root, { recursive: true, force: true })
  }
}

/** Opens a named pipe that the launcher holds open, too; its name is not needed any more. */
function readerOf(path: string): Socket {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  unlinkSync(path)
  return new Socket({ fd: descriptor, readable: true, writable: false })
}

/** The interpreter itself: what the PATH has may be a script that takes longer than Python. */
async function interpreterOf(python: string): Promise<string> {
  try {
    const program = 'import sys, _ctypes, _socket, fcntl, resource; print(sys.executable)'
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
function removeLeftOvers(tmpDir: string, logger: Logger): void {
  for (const name of readdirSync(tmpDir)) {
    const pid = name.startsWith(directoryPrefix) ? name.slice(directoryPrefix.length).split('-')[0] : undefined
    if (pid === undefined || existsSync(`/proc/${pid}`) || !existsSync('/proc/self')) continue
    try {
      rmSync(join(tmpDir, name), { recursive: true, force: true })
    } catch (error) {
      logger.warn({ err: error, name }, 'what another runner has left could not be removed')
    }
  }
}
