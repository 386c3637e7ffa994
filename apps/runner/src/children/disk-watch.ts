import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Child } from './child.ts'

export interface DiskWatchOptions {
  limitMb: number
  /** Those that have been running for longer than a moment. */
  running(): Child[]
  exceeded(child: Child, words: string): void
}

const everyMs = 1000
const blockBytes = 512
const MB = 1024 * 1024
// As in a private directory in memory.
const filesPerMb = 64

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
    for (const child of this.#options.running()) {
      const { task, directory } = child
      const words = directory === undefined ? undefined : await excessOf(directory, this.#options.limitMb)
      if (words !== undefined && child.task === task) this.#options.exceeded(child, words)
    }
    if (this.#timer !== undefined) this.start()
  }
}

/** What is too much in a directory, in words; looks no further than that. */
async function excessOf(directory: string, limitMb: number): Promise<string | undefined> {
  let bytes = 0
  let files = 0
  for (const open = [directory]; open.length > 0;) {
    for await (const entry of entriesOf(open.pop()!)) {
      files += 1
      if (entry.isDirectory) open.push(entry.path)
      bytes += entry.bytes
      if (bytes > limitMb * MB) return `The private directory of the run holds more than ${limitMb} MiB`
      if (files > limitMb * filesPerMb) return `The private directory of the run has more than ${files - 1} files`
    }
  }
  return undefined
}

async function* entriesOf(directory: string) {
  try {
    for await (const entry of await opendir(directory)) {
      const path = join(directory, entry.name)
      const { blocks } = await lstat(path).catch(() => ({ blocks: 0 }))
      yield { path, isDirectory: entry.isDirectory(), bytes: blocks * blockBytes }
    }
  } catch {
    // It has just been removed, or is closed to us; then it is not counted.
  }
}
