import { randomBytes } from 'node:crypto'
import type { CommandStart } from '@automation/contract/sandbox/v1/daemon'
import { notFound } from '@automation/errors'
import { Command } from './command.ts'
import { killMarked } from './processes.ts'
import { spawned } from './spawned.ts'

/** The commands that run, by the pid of their processes. */
export class Commands {
  readonly #environment: () => Record<string, string>
  /** Begins the marks of all of them. */
  readonly #mark = randomBytes(9).toString('hex')
  #started = 0
  readonly #running = new Map<number, Command>()

  /** `environment` is that of the sandbox. */
  constructor(environment: () => Record<string, string>) {
    this.#environment = environment
  }

  async start(start: CommandStart): Promise<Command> {
    const id = `${this.#mark}-${++this.#started}`
    const command = new Command(await spawned(start, id, this.#environment()), id, start)
    this.#running.set(command.pid, command)
    void command.ended.then(() => this.#running.delete(command.pid))
    return command
  }

  /** The oldest first. */
  list(): Command[] {
    return [...this.#running.values()]
  }

  kill(pid: number): void {
    const command = this.#running.get(pid)
    if (command === undefined) throw notFound('command')
    command.kill()
  }

  /** Ends those that run, and what others have left running. */
  killAll(): void {
    for (const command of this.#running.values()) command.kill()
    killMarked(this.#mark)
  }
}
