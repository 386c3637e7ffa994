import { createStore, del, entries, get, set } from 'idb-keyval'
import type { KeptText } from '../rules/unsaved.ts'

/** Unsaved texts outlast a reload, a crash and a sign-out; who else signs in here does not see them. */
const store = createStore('console-texts', 'texts')

/** This page: each tab keeps a text of its own, so that none overwrites or forgets that of another. */
const page = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`

const nameOf = (person: string, team: string, id: string) => JSON.stringify([person, team, id, page])

/** What this page keeps, at hand without a wait. */
const ofThisPage = new Map<string, KeptText>()

/** The unsaved text that this page has kept since it was loaded. */
export const textOfThisPage = (person: string, team: string, id: string): KeptText | undefined =>
  ofThisPage.get(nameOf(person, team, id))

/** A text that another page has kept, or this one before it was loaded again. */
export interface FoundText extends KeptText {
  /** Where it is kept. */
  key: IDBValidKey
}

/** The newest unsaved text of a process or module that a person has in this browser beside that of this page. */
export async function keptText(person: string, team: string, id: string): Promise<FoundText | undefined> {
  const start = JSON.stringify([person, team, id]).slice(0, -1)
  const found = (await entries<string, KeptText>(store))
    .filter(([key]) => key.startsWith(`${start},`) || key === `${start}]`)
    .filter(([key]) => key !== nameOf(person, team, id))
    .map(([key, text]) => ({ ...text, key }))
  return found.toSorted((a, b) => b.at.localeCompare(a.at))[0]
}

/** Keeps an unsaved text of this page, or with `undefined` forgets it. */
export function keepText(person: string, team: string, id: string, text: KeptText | undefined): Promise<void> {
  const name = nameOf(person, team, id)
  if (text === undefined) {
    ofThisPage.delete(name)
    return del(name, store)
  }
  ofThisPage.set(name, text)
  return set(name, text, store)
}

/** Forgets a text that was found, unless its page has written on. */
export async function forgetText({ key, at }: FoundText): Promise<void> {
  const now = await get<KeptText>(key, store)
  if (now?.at === at) await del(key, store)
}
