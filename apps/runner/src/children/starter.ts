import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Logger } from '@automation/service'

const launcherPath = fileURLToPath(new URL('../../launcher/launcher.py', import.meta.url))

/** What launcher.py reads. */
export interface Order {
  socket: string
  token: string
  scratch: string
  dataLimit: number
  program: string[]
  environment: Record<string, string>
}

/** The small process that forks launchers; started again when it has ended. */
export class Starter {
  readonly #python: string
  readonly #logger: Logger
  #process: ChildProcess | undefined
  #isClosed = false

  constructor(python: string, logger: Logger) {
    this.#python = python
    this.#logger = logger
  }

  order(order: Order): void {
    this.#process ??= this.#start()
    this.#process.stdin!.write(`${JSON.stringify(order)}\n`)
  }

  close(): void {
    this.#isClosed = true
    this.#process?.stdin!.end()
  }

  #start(): ChildProcess {
    const starter = spawn(this.#python, ['-I', '-S', launcherPath], {
      stdio: ['pipe', 'ignore', 'pipe'],
      cwd: '/',
      env: {},
    })
    let words = ''
    // First of all: where there are no streams, for want of file descriptors, this tells why.
    starter.on('error', (error) => (words += error.message))
    if (!starter.stdin || !starter.stderr) throw new Error('no process can be started')
    starter.stderr.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-2000)))
    starter.stdin.on('error', () => starter.kill('SIGKILL'))
    starter.on('close', (code, signal) => {
      if (this.#process === starter) this.#process = undefined
      if (!this.#isClosed) this.#logger.error({ code, signal, words }, 'the starter of children has ended')
    })
    return starter
  }
}
