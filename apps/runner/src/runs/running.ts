import { RecentlySeen } from '../recently-seen.ts'
import type { ActiveRun } from './active-run.ts'

/**
 * The runs of this runner, and how many of its slots they take. A run that waits for others takes none, and gets one
 * again, before any new run, when the last of them has ended.
 */
export class RunningRuns {
  readonly #slots: number
  readonly #freed: () => void
  readonly #runs = new Map<string, ActiveRun>()
  /** How many others each of these waits for; none, when it only waits for a slot. */
  readonly #waiting = new Map<ActiveRun, number>()
  readonly #teams = new RecentlySeen()
  readonly #resuming: { run: ActiveRun; go: () => void }[] = []

  /** `freed` is told where a slot may have come free. */
  constructor(slots: number, freed: () => void) {
    this.#slots = slots
    this.#freed = freed
  }

  get(executionId: string): ActiveRun | undefined {
    return this.#runs.get(executionId)
  }

  add(run: ActiveRun): void {
    this.#runs.set(run.id, run)
    this.#teams.came(run.version.spec.team)
  }

  /** Whether runs of other teams came a moment ago. */
  isAmongOthers(run: ActiveRun): boolean {
    return this.#teams.others(run.version.spec.team)
  }

  isWaiting(run: ActiveRun): boolean {
    return this.#waiting.has(run)
  }

  remove(run: ActiveRun): void {
    this.#runs.delete(run.id)
    this.#waiting.delete(run)
    this.#letGo(run)
    this.#resume()
    this.#freed()
  }

  /** It waits for one more, and gives its slot back. */
  waits(run: ActiveRun): void {
    if (!this.#runs.has(run.id)) return
    this.#waiting.set(run, (this.#waiting.get(run) ?? 0) + 1)
    // What it has waited for may be told at once: it takes no slot anyway.
    this.#letGo(run)
    this.#resume()
    this.#freed()
  }

  /** It waits for one less. Resolves at once while it waits for others still, else when it has a slot again. */
  async goesOn(run: ActiveRun): Promise<void> {
    const count = this.#waiting.get(run)
    if (count === undefined) return
    this.#waiting.set(run, count - 1)
    if (count > 1) return
    await new Promise<void>((go) => {
      this.#resuming.push({ run, go })
      this.#resume()
    })
  }

  /** Slots that no run takes. */
  get free(): number {
    return this.#slots - (this.#runs.size - this.#waiting.size)
  }

  get ids(): Iterable<string> {
    return this.#runs.keys()
  }

  get size(): number {
    return this.#runs.size
  }

  [Symbol.iterator](): Iterator<ActiveRun> {
    return this.#runs.values()
  }

  #letGo(run: ActiveRun): void {
    const at = this.#resuming.findIndex((each) => each.run === run)
    if (at >= 0) this.#resuming.splice(at, 1)[0]!.go()
  }

  #resume(): void {
    while (this.free > 0 && this.#resuming.length > 0) {
      const { run, go } = this.#resuming.shift()!
      this.#waiting.delete(run)
      go()
    }
  }
}

/** Whom the runner serves: every team or, where it is for one, that of the first run that it begins. */
export class TeamBinding {
  readonly #oneTeam: boolean
  #team = ''

  constructor(oneTeam: boolean) {
    this.#oneTeam = oneTeam
  }

  /** Whether a run of this team may begin here; the first one decides. */
  admits(team: string): boolean {
    if (!this.#oneTeam) return true
    if (this.#team === '') this.#team = team
    return this.#team === team
  }

  /** It is for one team, and nobody's yet. */
  get isFree(): boolean {
    return this.#oneTeam && this.#team === ''
  }

  /** The one that it serves; empty where that is not decided, or it serves all. */
  get team(): string {
    return this.#team
  }
}
