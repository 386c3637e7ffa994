import { Failure, invalid } from '@automation/errors'
import type { Window } from '@automation/database'
import { deleteValue, listEntries, listKeys, readValue, writeValue, type EntryRow } from './store/datastore.ts'
import type { Store } from './store/store.ts'

const keyMaxBytes = 512
const valueMaxBytes = 64 * 1024

/** Small JSON values that the runs of a team share. */
export class Datastore {
  readonly #store: Store
  readonly #teamMaxKeys: number

  constructor(store: Store, teamMaxKeys: number) {
    this.#store = store
    this.#teamMaxKeys = teamMaxKeys
  }

  get(team: string, key: string): Promise<string | undefined> {
    return readValue(this.#store, team, checkedKey(key))
  }

  async set(team: string, key: string, value: string): Promise<void> {
    if (Buffer.byteLength(value) > valueMaxBytes)
      throw new Failure('too_large', 'value_too_large', `A value may have at most ${valueMaxBytes} bytes as JSON`)
    if (!isJson(value)) throw invalid('/value', 'must be JSON')
    if (await writeValue(this.#store, { team, key: checkedKey(key), value }, this.#teamMaxKeys)) return
    throw new Failure('too_large', 'datastore_full', `The datastore of a team may have ${this.#teamMaxKeys} keys`)
  }

  delete(team: string, key: string): Promise<boolean> {
    return deleteValue(this.#store, team, checkedKey(key))
  }

  /** A page of keys with this beginning, in their order; values only of small ones. */
  entries(team: string, prefix: string, window: Window): Promise<{ rows: EntryRow[]; total: number }> {
    if (!isStorable(prefix)) throw invalid('/prefix', 'must be valid Unicode without NUL')
    return listEntries(this.#store, team, prefix, window)
  }

  keys(team: string, prefix: string): Promise<string[]> {
    if (!isStorable(prefix)) throw invalid('/prefix', 'must be valid Unicode without NUL')
    return listKeys(this.#store, team, prefix)
  }
}

function checkedKey(key: string): string {
  if (key === '') throw invalid('/key', 'is required')
  if (!isStorable(key)) throw invalid('/key', 'must be valid Unicode without NUL')
  if (Buffer.byteLength(key) > keyMaxBytes) throw invalid('/key', `must have at most ${keyMaxBytes} bytes`)
  return key
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
