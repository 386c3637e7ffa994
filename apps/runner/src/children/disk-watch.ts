import { directoryExcess } from '@automation/jail'
import type { Child } from './child.ts'

export interface DiskWatchOptions {
  limitMb: number
  /** Those in which process code may have written for longer than a moment. */
  children(): Child[]
  exceeded(child: Child, words: string): void
}

const everyMs = 1000

/** Looks at what the private directories of runs hold, where they are not of a size of their own. */
export class DiskWatch {
  readonly #options: DiskWatchOptions
  #timer: NodeJS.Timeout | undefined

  constructor(options: DiskWatchOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = setTimeout(() => void this.#look(), everyMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** The next look begins a while after the end of this one. */
  async #look(): Promise<void> {
    for (const child of this.#options.children()) {
      const { task, directory } = child
      const excess = directory === undefined ? undefined : await directoryExcess(directory, this.#options.limitMb)
      if (excess !== undefined && child.task === task)
        this.#options.exceeded(child, `The private directory of the run holds ${excess}`)
    }
    if (this.#timer !== undefined) this.start()
  }
}
