import { remoteSuffix, writeCheckout } from './checkout.ts'
import type { Comparison } from './compare.ts'
import { unresolved, type OpenProject } from './open-project.ts'
import type { Pulled } from './pull-team.ts'

/** What a merge has left is a clash again once a side is chosen, though its server's state was seen. */
export function resolving(project: OpenProject, comparisons: readonly Comparison[]): Comparison[] {
  return comparisons.map((comparison) => {
    if (comparison.verdict === 'same' || unresolved(project, comparison.key) === undefined) return comparison
    const { base: _, ...rest } = comparison
    return { ...rest, verdict: 'clash' }
  })
}

/** What an earlier pull has left to be merged by hand. */
export function leftBefore(
  project: OpenProject,
  comparisons: readonly Comparison[],
  pulled: readonly Pulled[],
): Pulled[] {
  const told = new Set(pulled.map(({ key }) => key))
  return comparisons.flatMap(({ key }) => {
    const path = told.has(key) ? undefined : unresolved(project, key)
    return path === undefined ? [] : [{ result: 'clash', key, path }]
  })
}

/** Removes what merges have left of items that a side was chosen for. */
export async function removeResolved(
  project: OpenProject,
  comparisons: readonly Comparison[],
  pulled: readonly Pulled[],
): Promise<void> {
  const open = new Set(
    pulled.filter(({ result }) => result === 'clash' || result === 'uncommitted').map(({ key }) => key),
  )
  for (const { key } of comparisons) {
    const path = open.has(key) ? undefined : unresolved(project, key)
    if (path?.endsWith(remoteSuffix)) await writeCheckout(project.folder, path, null)
  }
}
