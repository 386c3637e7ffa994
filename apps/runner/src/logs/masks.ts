import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Mask, stepsToMask } from './masking.ts'
import { LineSecrets } from './secret-lines.ts'

// Most masks take less. Between two slices others have their turn.
const sliceMs = 8
const pauseMs = 4
// Of the secrets of all masks that are kept for further versions; a mask has several times as much, and tables besides.
const keptCharacters = 12 * 1024 * 1024
const tableCharacters = 64 * 1024

/** A mask that is made, at once where that takes no longer than a slice. */
export class MaskInMaking {
  /** Hides nothing until it is made: no run of these secrets begins before. */
  readonly mask: Mask
  readonly #steps: Generator<undefined, Mask>
  readonly #made = Promise.withResolvers<void>()
  #whole: Mask | undefined

  constructor(secrets: readonly string[]) {
    const lineSecrets = new LineSecrets()
    this.mask = Object.assign((text: string, wasCut?: boolean) => this.#whole?.(text, wasCut) ?? text, { lineSecrets })
    this.#steps = stepsToMask(secrets, lineSecrets)
    this.goOn()
  }

  get isMade(): boolean {
    return this.#whole !== undefined
  }

  /** Resolves when it is made. */
  get made(): Promise<void> {
    return this.#made.promise
  }

  /** One slice more. */
  goOn(): void {
    const end = performance.now() + sliceMs
    while (this.#whole === undefined && performance.now() < end) {
      const { done, value } = this.#steps.next()
      if (done === true) this.#whole = value
    }
    if (this.isMade) this.#made.resolve()
  }
}

/** The masks of teams' secrets. Versions of a team with the same secrets share one; large ones are made in turns. */
export class Masks {
  readonly #kept = new LRUCache<string, MaskInMaking>({ maxSize: keptCharacters })
  readonly #making: MaskInMaking[] = []

  of(team: string, secrets: readonly string[]): MaskInMaking {
    const key = keyOf(team, secrets)
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const made = new MaskInMaking(secrets)
    const size = secrets.reduce((sum, { length }) => sum + length, tableCharacters)
    this.#kept.set(key, made, { size })
    if (!made.isMade && this.#making.push(made) === 1) this.#nextTurn()
    return made
  }

  #nextTurn(): void {
    setTimeout(() => {
      const first = this.#making.shift()!
      first.goOn()
      if (!first.isMade) this.#making.push(first)
      if (this.#making.length > 0) this.#nextTurn()
    }, pauseMs)
  }
}

function keyOf(team: string, secrets: readonly string[]): string {
  const hash = createHash('sha256').update(team)
  for (const secret of secrets) hash.update(`\n${secret.length} ${secret}`)
  return hash.digest('base64')
}
