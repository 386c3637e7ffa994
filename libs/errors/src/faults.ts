import { Failure, invalid, type FieldFault } from './failure.ts'

/** Gathers the faults of several fields, so that a caller hears of all at once. */
export class Faults {
  readonly #fields: FieldFault[] = []

  add(path: string, message: string): void {
    this.#fields.push({ path, message })
  }

  /** What `read` gives; undefined where a field is invalid. Other failures are thrown as they are. */
  of<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'invalid_input') throw error
      this.#fields.push(...error.fields)
      return undefined
    }
  }

  /** Failure: invalid_input with all that was gathered. */
  check(): void {
    const [first] = this.#fields
    if (first === undefined) return
    const { kind, code, message } = invalid(first.path, first.message)
    throw new Failure(kind, code, message, { fields: this.#fields })
  }
}

/** What each of the readers gives, by its name. Failure: invalid_input with the faults of all. */
export function readAll<T extends object>(readers: { [K in keyof T]: () => T[K] }): T {
  const faults = new Faults()
  const values: Partial<T> = {}
  for (const name of Object.keys(readers) as (keyof T)[]) values[name] = faults.of(readers[name])
  faults.check()
  return values as T
}
