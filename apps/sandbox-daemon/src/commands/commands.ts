import { randomBytes } from 'node:crypto'
import type { CommandStart } from '@automation/contract/sandbox/v1/daemon'
import { notFound } from '@automation/errors'
import { Command } from './command.ts'
import { type Detached, DetachedCommands } from './detached.ts'
import { killMarked } from './processes.ts'
import { spawned } from './spawned.ts'

/** The commands that run, by the pid of their processes. */
export class Commands {
  readonly #environment: () => Record<string, string>
  /** Begins the marks of all of them. */
  readonly #mark = randomBytes(9).toString('hex')
  #started = 0
  readonly #running = new Map<number, Command>()
  readonly detached = new DetachedCommands()

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

  /** One that goes on without its caller. Failure too_many_commands, and those of a start. */
  startDetached(start: CommandStart): Promise<Detached> {
    return this.detached.add(async () => {
      const command = await this.start(start)
      void command.feed(start.input).then(() => command.endInput())
      return command
    })
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
