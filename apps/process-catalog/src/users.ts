/** Who uses something. */
export interface Users {
  /** Some of the team's own, each as a caller knows it: `alias live`. */
  named: string[]
  /** How many of its own there are. */
  own: number
  /** How many in other teams, of which nothing more is told. */
  others: number
}

export const nobody: Users = { named: [], own: 0, others: 0 }

/** How many users a refusal names. */
export const namedUsers = 5

/** All users together, in this order. */
export function allUsers(...parts: Users[]): Users {
  const sum = (of: 'own' | 'others') => parts.reduce((total, part) => total + part[of], 0)
  return { named: parts.flatMap(({ named }) => named), own: sum('own'), others: sum('others') }
}

/** `alias live, process a, 2 more, 1 in other teams`; undefined where nobody uses it. */
export function usersText({ named, own, others }: Users): string | undefined {
  if (own + others === 0) return undefined
  const shown = named.slice(0, namedUsers)
  const more = own > shown.length ? [`${own - shown.length} more`] : []
  const elsewhere = others > 0 ? [`${others} in other teams`] : []
  return [...shown, ...more, ...elsewhere].join(', ')
}
