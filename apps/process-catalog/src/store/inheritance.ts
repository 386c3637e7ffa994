import { AuditType } from '@automation/contract/audit/v1/audit'
import { audit } from './audit.ts'
import type { Author } from './processes.ts'
import { changeParents } from './revisions.ts'
import type { Rows, Store } from './store.ts'

/** The teams that a team inherits from now. */
export async function parentsInForce(rows: Rows, child: string): Promise<string[]> {
  const found = await rows.$queryRaw<{ parent: string }[]>`SELECT parent FROM inheritance WHERE child = ${child}`
  return found.map(({ parent }) => parent)
}

/** Notes with each parent that the author's team has begun, or ceased, to inherit from it. From where is not told. */
export async function tellParents(rows: Rows, { team: child, name }: Author, before: string[]): Promise<void> {
  const now = await parentsInForce(rows, child)
  for (const parent of now.filter((team) => !before.includes(team)))
    await audit(rows, { team: parent, name }, { type: AuditType.TEAM, event: 'child_added', entityId: child })
  for (const parent of before.filter((team) => !now.includes(team)))
    await audit(rows, { team: parent, name }, { type: AuditType.TEAM, event: 'child_removed', entityId: child })
}

/**
 * Ends that teams inherit from the author's because a token named it; an operator's grant counts on. The next run of such a
 * team sees nothing of the parent any more. What is cut off is done by the next call.
 */
export async function endParentByTokens(store: Store, { team: parent, name }: Author): Promise<void> {
  const children = await store.read((rows) => rows.teamParent.findMany({ where: { parent, byToken: true } }))
  for (const { child } of children)
    await changeParents(store, child, async (rows) => {
      const before = await parentsInForce(rows, child)
      await rows.teamParent.updateMany({ where: { child, parent }, data: { byToken: false } })
      await tellParents(rows, { team: child, name }, before)
    })
}
