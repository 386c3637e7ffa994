import { randomUUID } from 'node:crypto'
import { Failure, notFound } from '@automation/errors'
import type { Command } from './command.ts'
import { KeptOutput } from './kept-output.ts'

/** A command that goes on without the call that has started it. */
export interface Detached {
  id: string
  command: Command
  output: KeptOutput
}

const most = 32

/** Commands that can be attached to, those that run and the last that have ended. */
export class DetachedCommands {
  readonly #kept = new Map<string, Detached>()
  /** That are about to start. */
  #starting = 0

  /** Room for one more. Failure too_many_commands where all run. */
  async add(starting: () => Promise<Command>): Promise<Detached> {
    if (this.#kept.size + this.#starting >= most) this.#forgetEnded()
    this.#starting += 1
    try {
      const detached = { id: randomUUID(), command: await starting(), output: new KeptOutput() }
      this.#kept.set(detached.id, detached)
      void keep(detached)
      return detached
    } finally {
      this.#starting -= 1
    }
  }

  /** Failure command_not_found. */
  get(id: string): Detached {
    const detached = this.#kept.get(id)
    if (detached === undefined) throw notFound('command')
    return detached
  }

  /** The oldest first. */
  list(): Detached[] {
    return [...this.#kept.values()]
  }

  /** Ends it, and forgets what it wrote. Failure command_not_found. */
  remove(id: string): void {
    const { command, output } = this.get(id)
    this.#kept.delete(id)
    if (output.end === undefined) command.kill()
  }

  #forgetEnded(): void {
    const oldest = this.list().find(({ output }) => output.end !== undefined)
    if (oldest === undefined) {
      const text = `${most} detached commands run in the sandbox, which is the most: end one of them`
      throw new Failure('resource_exhausted', 'too_many_commands', text)
    }
    this.#kept.delete(oldest.id)
  }
}

/** Takes what it writes as it comes, so that it waits for nobody. */
async function keep({ command, output }: Detached): Promise<void> {
  for await (const message of command.output()) output.push(message)
  output.close()
}
