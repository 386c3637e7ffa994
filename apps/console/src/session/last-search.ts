import type { ExecutionsSearch } from '../rules/execution-filters.ts'

const searches = new Map<string, ExecutionsSearch>()

/** Notes what the list of a team is filtered by, so that an execution can lead back to it. */
export function keepSearch(team: string, search: ExecutionsSearch): void {
  searches.set(team, search)
}

export const forgetSearches = (): void => searches.clear()

/** What the list of a team was filtered by when it was seen last, in this window. */
export const lastSearch = (team: string): ExecutionsSearch => searches.get(team) ?? {}
