import { exitCodes } from './exit.ts'

/** Who handles Ctrl-C. */
export interface Interrupts {
  /** Handles it from now on, until the function that this gives is called. */
  handle(handler: () => void): () => void
}

/** Ctrl-C ends the program with 130, unless a command handles it: the last one that has said so. */
export function watchInterrupts(self: NodeJS.Process): Interrupts {
  const handlers: (() => void)[] = []
  self.on('SIGINT', () => {
    const handler = handlers.at(-1)
    if (handler) handler()
    else self.exit(exitCodes.interrupted)
  })
  return {
    handle(handler) {
      handlers.push(handler)
      return () => void handlers.splice(handlers.indexOf(handler), 1)
    },
  }
}
