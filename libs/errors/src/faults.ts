import { Failure, invalid, type FieldFault } from './failure.ts'

/** Gathers the faults of several fields, so that a caller hears of all at once. */
export class Faults {
  readonly #fields: FieldFault[] = []
  readonly #codes = new Set<string>()

  add(path: string, message: string): void {
    this.#take(invalid(path, message))
  }

  /** What `read` gives; undefined where a field is invalid. Other failures are thrown as they are. */
  of<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      this.#take(error)
      return undefined
    }
  }

  /** The same of work that takes longer. Where it can't be done now, what was gathered before is thrown in its place. */
  async ofWork<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work
    } catch (error) {
      if (error instanceof Failure && error.kind === 'unavailable') this.check()
      this.#take(error)
      return undefined
    }
  }

  /** Failure: invalid_input with all that was gathered, or the one code that all of it has. */
  check(): void {
    const [first] = this.#fields
    if (first === undefined) return
    const [code = ''] = this.#codes
    const { kind, message } = invalid(first.path, first.message)
    throw new Failure(kind, this.#codes.size === 1 ? code : 'invalid_input', message, { fields: this.#fields })
  }

  #take(error: unknown): void {
    if (!(error instanceof Failure) || error.kind !== 'invalid_argument' || error.fields.length === 0) throw error
    this.#fields.push(...error.fields)
    this.#codes.add(error.code)
  }
}

/** What each of the readers gives, by its name. Failure: as of `Faults.check`, with the faults of all. */
export function readAll<T extends object>(readers: { [K in keyof T]: () => T[K] }): T {
  const faults = new Faults()
  const values: Partial<T> = {}
  for (const name of Object.keys(readers) as (keyof T)[]) values[name] = faults.of(readers[name])
  faults.check()
  return values as T
}
