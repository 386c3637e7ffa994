import { unavailable } from '@automation/errors'
import type { ObjectStore } from '@automation/objects'
import { teamOfKey } from './store/store.ts'

/** What is no larger waits for nobody. */
const smallBytes = 64 * 1024

/** Contents at a time that go to an S3 server, whose client holds up to 16 MiB of each. */
const mostAtOnce = 24
const mostOfTeam = 8
const mostWaiting = 1000
const waitMs = 30_000

/** The pace that keeps an upload its turn while others wait: 64 KB a second. */
const bytesPerMs = 64

/**
 * Puts of large contents in turns by team, so that what is held of them is bounded, however slowly they come. While
 * others wait, one whose content is `lagMs` behind its pace is given up; while only its own team does, one of which nothing
 * has come for so long.
 */
export function inTurns(put: ObjectStore['put'], lagMs: number): ObjectStore['put'] {
  const ofTeams = new Map<string, UploadSlots>()
  const ofAll = new UploadSlots(mostAtOnce, lagMs, ({ behindMs }) => behindMs)
  return async (key, content, options) => {
    if ((options?.size ?? Infinity) <= smallBytes) return put(key, content, options)
    const team = teamOfKey(key)
    const ofTeam = ofTeams.get(team) ?? new UploadSlots(mostOfTeam, lagMs, ({ idleMs }) => idleMs)
    ofTeams.set(team, ofTeam)
    try {
      return await ofTeam.use(team, async (own) => {
        const pieces = own.paced(content[Symbol.asyncIterator]())
        try {
          const { begun, ended } = await beginningOf(pieces)
          if (ended) return await put(key, inOrder(begun), options)
          return await ofAll.use(team, (turn) => put(key, inOrder(begun, turn.paced(pieces)), options))
        } finally {
          void pieces.return(undefined)
        }
      })
    } finally {
      // Another upload may have begun others meanwhile.
      if (ofTeam.isUnused && ofTeams.get(team) === ofTeam) ofTeams.delete(team)
    }
  }
}

/** What comes before a content is no longer small, and whether that is all. */
async function beginningOf(pieces: AsyncIterator<Uint8Array>): Promise<{ begun: Uint8Array[]; ended: boolean }> {
  const begun: Uint8Array[] = []
  for (let bytes = 0; bytes <= smallBytes;) {
    const next = await pieces.next()
    if (next.done === true) return { begun, ended: true }
    begun.push(next.value)
    bytes += next.value.byteLength
  }
  return { begun, ended: false }
}

async function* inOrder(begun: Uint8Array[], rest?: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  yield* begun.splice(0)
  if (rest !== undefined) yield* rest
}

/** The turn of one content, and how far it is behind its pace: only the time counts in which it is waited for. */
class Turn {
  readonly team: string
  #failure: Error | undefined
  #behindMs = 0
  #asked: { atMs: number; reject: (reason: Error) => void } | undefined

  constructor(team: string) {
    this.team = team
  }

  get isOver(): boolean {
    return this.#failure !== undefined
  }

  /** How long it has been waited for just now. */
  get idleMs(): number {
    return this.#asked === undefined ? 0 : performance.now() - this.#asked.atMs
  }

  get behindMs(): number {
    return this.#behindMs + this.idleMs
  }

  async *paced(pieces: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        if (this.#failure !== undefined) throw this.#failure
        const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
          this.#asked = { atMs: performance.now(), reject }
          pieces.next().then(resolve, reject)
        })
        this.#behindMs = this.behindMs
        this.#asked = undefined
        if (next.done === true) return
        this.#behindMs = Math.max(0, this.#behindMs - next.value.byteLength / bytesPerMs)
        yield next.value
      }
    } finally {
      // It lets go of what it holds, when it is done with the piece that nobody waits for any more.
      void pieces.return?.()
    }
  }

  end(): void {
    this.#failure = unavailable('The upload came too slowly while others waited for their turn, try again')
    this.#asked?.reject(this.#failure)
  }
}

interface Waiter {
  turn: Turn
  begin(): void
}

/** Turns of which there are so many. */
class UploadSlots {
  readonly #most: number
  readonly #lagMs: number
  readonly #lagOf: (turn: Turn) => number
  readonly #open = new Set<Turn>()
  readonly #waiting = new Set<Waiter>()

  /** `lagOf`: what of a turn must not be longer than `lagMs` while others wait. */
  constructor(most: number, lagMs: number, lagOf: (turn: Turn) => number) {
    this.#most = most
    this.#lagMs = lagMs
    this.#lagOf = lagOf
  }

  get isUnused(): boolean {
    return this.#open.size + this.#waiting.size === 0
  }

  /** Failure unavailable where no turn becomes free in time, or too many wait. */
  async use<T>(team: string, work: (turn: Turn) => Promise<T>): Promise<T> {
    const turn = new Turn(team)
    if (this.#open.size >= this.#most) await this.#wait(turn)
    else this.#open.add(turn)
    try {
      return await work(turn)
    } finally {
      this.#open.delete(turn)
      this.#nextWaiter()?.begin()
    }
  }

  #wait(turn: Turn): Promise<void> {
    if (this.#waiting.size >= mostWaiting) return Promise.reject(tooMany())
    return new Promise((resolve, reject) => {
      const looking = setInterval(() => this.#makeRoom(), this.#lagMs / 10)
      const over = () => {
        clearInterval(looking)
        clearTimeout(late)
        this.#waiting.delete(waiter)
      }
      const late = setTimeout(() => {
        over()
        reject(tooMany())
      }, waitMs)
      const begin = () => {
        over()
        this.#open.add(turn)
        resolve()
      }
      const waiter = { turn, begin }
      this.#waiting.add(waiter)
      this.#makeRoom()
    })
  }

  /** Of the team that has the fewest turns. */
  #nextWaiter(): Waiter | undefined {
    const held = ({ turn }: Waiter) => [...this.#open].filter(({ team }) => team === turn.team).length
    return [...this.#waiting].toSorted((a, b) => held(a) - held(b))[0]
  }

  /** Ends the slowest turn, unless as many are ending as wait. */
  #makeRoom(): void {
    const lasting = [...this.#open].filter(({ isOver }) => !isOver)
    const slowest = lasting.toSorted((a, b) => this.#lagOf(b) - this.#lagOf(a))[0]
    const ending = this.#open.size - lasting.length
    if (slowest !== undefined && this.#lagOf(slowest) > this.#lagMs && ending < this.#waiting.size) slowest.end()
  }
}

function tooMany() {
  return unavailable('Too many uploads are under way, try again')
}
