import { TeamShare } from '@automation/database'
import type pg from 'pg'

/** What makes statements. */
export type Queries = Pick<pg.Pool, 'query'>

/** A pool as a team may use it: by its share of the connections. */
export function teamQueries(pool: pg.Pool): (team: string) => Queries {
  const share = new TeamShare(pool.options.max)
  return (team) => ({
    query: ((...statement: Parameters<pg.Pool['query']>) =>
      share.use(team, async () => pool.query(...statement))) as Queries['query'],
  })
}
