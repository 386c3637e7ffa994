import { invalid } from '@automation/errors'
import type { Rows } from './store.ts'

/**
 * Makes these the parents of a team, in the place of those that it had. A parent needs the operator's grant, or to be among
 * `tokenTeams`; one that counts already stays. Fails with invalid `/parentTeamSlugs`, with one text for teams that are
 * there and that are not.
 */
export async function nameParents(rows: Rows, child: string, parents: string[], tokenTeams: string[]): Promise<void> {
  const before = await rows.teamParent.findMany({ where: { child } })
  const granted = await rows.parentGrant.findMany({ where: { child, parent: { in: parents } } })
  const mayBe = await rows.team.findMany({ where: { slug: { in: parents } }, select: { slug: true } })
  const byToken = new Set([...tokenTeams, ...before.filter((each) => each.byToken).map(({ parent }) => parent)])
  for (const parent of parents) {
    const isGranted = byToken.has(parent) || granted.some((each) => each.parent === parent)
    if (parent === child || !isGranted || !mayBe.some(({ slug }) => slug === parent)) throw refused(parent)
  }
  if (await wouldCircle(rows, child, parents))
    throw invalid('/parentTeamSlugs', 'would make the team a parent of itself, by way of its parents', 'parent_cycle')
  await rows.teamParent.deleteMany({ where: { child } })
  const isGranted = new Set(granted.map(({ parent }) => parent))
  // Where there is a grant, it alone decides: taking it back is enough then.
  const data = parents.map((parent) => ({ child, parent, byToken: !isGranted.has(parent) }))
  await rows.teamParent.createMany({ data })
}

function refused(parent: string) {
  return invalid(
    '/parentTeamSlugs',
    `must name teams that may be parents of this one, not ${parent.slice(0, 63)}`,
    'parent_not_granted',
  )
}

async function wouldCircle(rows: Rows, child: string, parents: string[]): Promise<boolean> {
  const found = await rows.$queryRaw<{ found: boolean }[]>`
    WITH RECURSIVE above (team) AS (
      SELECT unnest(${parents}::text[]) COLLATE "C"
      UNION SELECT team_parents.parent FROM team_parents JOIN above ON team_parents.child = above.team
    )
    SELECT EXISTS (SELECT FROM above WHERE team = ${child}) AS found`
  return found[0]?.found === true
}
