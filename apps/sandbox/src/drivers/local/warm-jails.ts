import { setTimeout as pause } from 'node:timers/promises'
import type { Image } from '../../catalogue.ts'
import type { Jail } from './jail.ts'

/** A start keeps a processor busy: the first commands of who has just got one go first. */
const laterMs = 300

interface OfImage {
  readonly ready: Set<Jail>
  readonly coming: Set<Promise<void>>
}

/** Jails that belong to nobody yet, of each image as many as the catalogue says; each is taken once. */
export class WarmJails {
  readonly #byImage = new Map<string, OfImage>()
  #isStopped = false
  #cleared: Promise<unknown> = Promise.resolve()

  /** One that is there; undefined where there is none. */
  take({ id }: Image): Jail | undefined {
    const [jail] = this.#of(id).ready
    if (jail !== undefined) this.#of(id).ready.delete(jail)
    return jail
  }

  /** Starts those of an image that are missing, by `start`, a moment later; rejects where one does not come. */
  async fill(image: Image, start: () => Promise<Jail>): Promise<void> {
    await pause(laterMs, undefined, { ref: false })
    const { ready, coming } = this.#of(image.id)
    const starts: Promise<void>[] = []
    while (!this.#isStopped && ready.size + coming.size < image.warm) {
      const one = this.#start(image, start).finally(() => coming.delete(one))
      coming.add(one)
      starts.push(one)
    }
    await Promise.all(starts)
  }

  /** Ends them all, also those on their way; they are made anew by `fill`. */
  clear(): void {
    const all = [...this.#byImage.values()]
    this.#byImage.clear()
    this.#cleared = Promise.all([this.#cleared, ...all.map(endAll)])
  }

  /** Ends them all, and starts no more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.clear()
    await this.#cleared
  }

  async #start({ id }: Image, start: () => Promise<Jail>): Promise<void> {
    const { ready } = this.#of(id)
    const jail = await start()
    ready.add(jail)
    void jail.gone.then(() => ready.delete(jail))
  }

  #of(id: string): OfImage {
    let found = this.#byImage.get(id)
    if (found === undefined) this.#byImage.set(id, (found = { ready: new Set(), coming: new Set() }))
    return found
  }
}

async function endAll({ ready, coming }: OfImage): Promise<void> {
  await Promise.allSettled(coming)
  await Promise.all([...ready].map((jail) => jail.end()))
}
