import type { Rows, Store } from './store.ts'

/** A change that the scheduler is still to be told of. */
export interface Effect {
  team: string
  /** `zone`, or the id of a process. */
  subject: string
  /** The team's zone, or the name of the process. */
  value: string
  /** The team's, of the transaction that made the change. */
  revision: bigint
}

/** Notes a change, in its transaction; it takes the place of an older one of the same subject. */
export async function noteEffect(rows: Rows, { team, subject, value, revision }: Effect): Promise<void> {
  await rows.effect.upsert({
    where: { team_subject: { team, subject } },
    create: { team, subject, value, revision },
    update: { value, revision },
  })
}

/** Nobody is to be told of this process any more. */
export async function dropEffects(rows: Rows, team: string, processId: string): Promise<void> {
  await rows.effect.deleteMany({ where: { team, subject: processId } })
}

/** A team's, in the order of the changes. */
export function effectsOf(store: Store, team: string): Promise<Effect[]> {
  return store.read((rows) => rows.effect.findMany({ where: { team }, orderBy: { revision: 'asc' } }))
}

/** Teams of which something is to be told, in order, some at a time. */
export async function teamsWithEffects(store: Store, after: string, limit: number): Promise<string[]> {
  const rows = await store.statement<{ team: string }>({
    name: 'teams_with_effects',
    text: 'SELECT DISTINCT team FROM effects WHERE team > $1 ORDER BY team LIMIT $2',
    values: [after, limit],
  })
  return rows.map(({ team }) => team)
}

/** The scheduler has heard of it; a newer change of the subject stays. */
export async function effectDelivered(store: Store, { team, subject, revision }: Effect): Promise<void> {
  await store.read((rows) => rows.effect.deleteMany({ where: { team, subject, revision } }))
}
