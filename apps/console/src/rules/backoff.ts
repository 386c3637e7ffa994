const FIRST_MS = 500
const LONGEST_MS = 15_000

/** How long to wait before a further attempt, `attempt` from 0: longer each time, and by chance not all at once. */
export function backoffMs(attempt: number, chance: number): number {
  const longest = Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS)
  return Math.round(longest * (0.5 + chance / 2))
}
