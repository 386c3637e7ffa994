/** How much a record keeps of what it was before. */
const most = 32

/** What a record has been before its next state, the newest first, each once; where its present one is not known, as before. */
export function keptBefore(before: string[], present: string | undefined): string[] {
  if (present === undefined) return before
  return [present, ...before.filter((each) => each !== present)].slice(0, most)
}
