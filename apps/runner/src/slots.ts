/** A replica that slots can be lent to, and how many it has or holds a run in. */
export interface Borrower {
  isConnected: boolean
  lent: number
  running: number
}

/**
 * How many more slots to lend to each of these, when `free` are neither taken nor lent. Those with the least come
 * first; what a replica that is away would have is kept for it while `keepForAbsent`.
 */
export function lendings(borrowers: Borrower[], free: number, slots: number, keepForAbsent: boolean): number[] {
  const lendings = borrowers.map(() => 0)
  const connected = borrowers.flatMap(({ isConnected }, at) => (isConnected ? [at] : []))
  if (connected.length === 0) return lendings
  const absent = keepForAbsent ? borrowers.length - connected.length : 0
  const kept = Math.floor((slots * absent) / borrowers.length)
  for (let left = free - kept; left > 0; left -= 1) {
    const has = (at: number) => borrowers[at]!.lent + borrowers[at]!.running + lendings[at]!
    const poorest = connected.reduce((best, at) => (has(at) < has(best) ? at : best))
    lendings[poorest]! += 1
  }
  return lendings
}
