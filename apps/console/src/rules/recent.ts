/** What was used last comes first, each once, and no more than so many. */
export function withRecent<T>(before: readonly T[], used: T, most: number, keyOf: (item: T) => string = String): T[] {
  return [used, ...before.filter((item) => keyOf(item) !== keyOf(used))].slice(0, most)
}
