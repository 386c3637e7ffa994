import { AuditType } from '@automation/contract/audit/v1/audit'
import { audit } from './audit.ts'
import type { Author } from './processes.ts'
import type { Rows } from './store.ts'

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
