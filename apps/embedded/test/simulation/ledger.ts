/** What really happened, seen from nowhere: what callers were told, and what runners did. */
export class Ledger {
  /** How often the code of an execution began. */
  readonly starts = new Map<string, number>()
  /** Executions whose code runs now, with the machine. */
  readonly running = new Map<string, string>()
  /** Executions whose code came to its end by itself. */
  readonly finished = new Set<string>()
  /** Executions that a caller was told of. */
  readonly accepted = new Set<string>()
  /** What a caller was told about the end of an execution. */
  readonly answered = new Map<string, string>()
  /** Lifecycle events as a consumer got them, by execution. */
  readonly events = new Map<string, { sequence: number; status: number }[]>()
  /** Executions whose start the catalog has a record of. */
  readonly recorded = new Set<string>()
  /** Schedules that a caller was told of. */
  readonly schedules = new Set<string>()
  /** What should never happen, as it was noticed. */
  readonly wrong: string[] = []

  began(id: string, machine: string): void {
    const count = (this.starts.get(id) ?? 0) + 1
    this.starts.set(id, count)
    this.running.set(id, machine)
    if (count > 1) this.wrong.push(`I3 the code of ${id} began ${count} times`)
  }

  event(id: string, sequence: number, status: number): void {
    const known = this.events.get(id) ?? []
    this.events.set(id, known)
    if (known.some((event) => event.sequence === sequence)) return
    if (known.length + 1 !== sequence) this.wrong.push(`I5 event ${sequence} of ${id} came after ${known.length}`)
    known.push({ sequence, status })
  }
}
