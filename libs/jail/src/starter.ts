import { spawn, type ChildProcess, execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Logger } from '@automation/service'
import type { JailProgram, ProgramMount } from './program.ts'
import type { NetworkName, IsolationLevel } from './isolation/config.ts'

const launcherPath = fileURLToPath(new URL('../launcher/launcher.py', import.meta.url))

/** What launcher.py reads. */
export interface Order {
  socket: string
  token: string
  /** Those that are connected, beside that of the launcher. */
  channels: number[]
  /** A Unix socket of which the child's descriptor 3 is the listening end. */
  listen?: string
  scratch: string
  dataLimit: number
  program: string[]
  environment: Record<string, string>
  /** Whether it is a fork of what the starter has imported ahead, in place of a program that is started. */
  goesOn: boolean
  /** Whether it starts with a low CPU priority, where it has a group of its own. */
  hasLowPriority: boolean
  /** Beside what the isolation shows to all. */
  readable: ProgramMount[]
}

/** What launcher.py is told first: the isolation around all its children. */
interface IsolationOrder {
  level: IsolationLevel
  network: NetworkName
  /** The program that leads a network of a child's own out. */
  helper?: string
  /** Of the service itself. */
  ports: number[]
  /** Files and directories that programs need beside the system's. */
  readable: ProgramMount[]
  /** Who a child is in a jail, and where its private directory is there. */
  account: string
  home: string
  homeMb: number
  filesPerMb: number
  processes: number
  /** Whether a jail has terminals of its own. */
  terminals: boolean
  /** Where each child gets a group of its own for processors: with its launcher's number, the paths of that. */
  groups?: string[]
  /** Ranges that a network of a child's own leads to although they are private. */
  egress: string[]
  /** Of the host, which it does not lead to: asked for each child, and told with its order, as they may change. */
  addresses(): string[]
}

/** The small process that forks launchers; started again when it has ended. */
export class Starter {
  readonly #python: string
  readonly #isolation: IsolationOrder
  readonly #ahead: JailProgram | undefined
  readonly #logger: Logger
  readonly #ended: (why: Error) => void
  #process: ChildProcess | undefined
  #isClosed = false

  /**
   * `ahead` is a Python program that it imports first, for children that go on as that; `ended` is told when it ends by
   * itself: what was ordered and is not there does not come.
   */
  constructor(
    python: string,
    isolation: IsolationOrder,
    ahead: JailProgram | undefined,
    logger: Logger,
    ended: (why: Error) => void,
  ) {
    this.#python = python
    this.#isolation = isolation
    this.#ahead = ahead
    this.#logger = logger
    this.#ended = ended
  }

  order(order: Order): void {
    this.#process ??= this.#start()
    const addresses = this.#isolation.network === 'own' ? this.#isolation.addresses() : []
    this.#process.stdin!.write(measured({ ...order, addresses }))
  }

  close(): void {
    this.#isClosed = true
    this.#process?.stdin!.end()
  }

  /** 0 while it has not been needed. */
  get pid(): number {
    return this.#process?.pid ?? 0
  }

  #start(): ChildProcess {
    const ahead = this.#ahead
    // Children that are forks of it show their own arguments where its are: there is to be room for these.
    const room = ahead?.program ?? []
    const starter = spawn(this.#python, ['-I', '-S', launcherPath, ...room], {
      stdio: ['pipe', 'ignore', 'pipe'],
      cwd: '/',
      env: ahead?.environment ?? {},
    })
    let words = ''
    // First of all: where there are no streams, for want of file descriptors, this tells why.
    starter.on('error', (error) => (words += error.message))
    if (!starter.stdin || !starter.stderr) throw new Error('no process can be started')
    starter.stderr.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-2000)))
    starter.stdin.on('error', () => starter.kill('SIGKILL'))
    starter.stdin.write(measured({ ...this.#isolation, ahead: ahead?.ahead }))
    starter.once('exit', () => this.#hasEnded(starter))
    starter.on('close', (code, signal) => {
      this.#hasEnded(starter)
      if (!this.#isClosed) this.#logger.error({ code, signal, words }, 'the starter of children has ended')
    })
    return starter
  }

  /** Where it could not even start, it does not exit but close. */
  #hasEnded(starter: ChildProcess): void {
    if (this.#process !== starter) return
    this.#process = undefined
    if (!this.#isClosed) this.#ended(new Error('the starter of children has ended'))
  }
}

/** After its length in bytes, in eight digits. */
function measured(message: object): string {
  const text = JSON.stringify(message)
  return String(Buffer.byteLength(text)).padStart(8, '0') + text
}

/** The Python of this machine. */
export interface Interpreter {
  path: string
  /** Such as 3.11.2. */
  version: string
}

// The first version that the launcher runs on.
const oldest = [3, 8]

/**
 * Finds the interpreter itself: what the PATH has may be a script that takes longer than Python, or a link, as in a virtual
 * environment, which a jail does not have. Throws words for people.
 */
export async function findInterpreter(python: string): Promise<Interpreter> {
  const found = await asked(python)
  if (isOlder(found.version, oldest))
    throw new Error(
      `The service needs Python ${oldest.join('.')} or later to start users' code, and '${python}' is ${found.version}. Install a newer one, or name it in RUNNER_PYTHON.`,
    )
  return found
}

/** Whether a version such as 3.11.2 comes before that one. */
export function isOlder(version: string, [oldestMajor = 0, oldestMinor = 0]: readonly number[]): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor)
}

const question = `
import os, sys, _ctypes, _socket, fcntl, resource
print(os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable))
print(*sys.version_info[:3], sep='.')`

async function asked(python: string): Promise<Interpreter> {
  try {
    const { stdout } = await promisify(execFile)(python, ['-I', '-S', '-c', question])
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
