import type { ListTeamChangesRequest, ListTeamChangesResponseSchema } from '@automation/contract/common/v1/change'
import { principalIn, type CallContext } from '@automation/rpc'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type pg from 'pg'

/** A statement on the schema of the service whose changes are read. */
type Query = <R extends pg.QueryResultRow>(statement: pg.QueryConfig) => Promise<R[]>

interface Row {
  team: string
  last: string
  number: string | null
  at: Date
  type: string
  change: string
  id: string
  processId: string | null
  status: string | null
  language: string | null
}

type Answer = MessageInitShape<typeof ListTeamChangesResponseSchema>

/** The service TeamChangeService of a schema whose triggers note what changes in `team_changes`. */
export function teamChangeHandlers(query: Query) {
  return {
    listTeamChanges(request: ListTeamChangesRequest, context: CallContext): Promise<Answer> {
      principalIn(context, 'service')
      return listTeamChanges(query, request)
    },
  }
}

async function listTeamChanges(query: Query, { teams }: ListTeamChangesRequest): Promise<Answer> {
  const rows = await query<Row>({
    name: 'list_team_changes',
    text: `SELECT asked.team, coalesce(counted.last, 0) AS last, noted.number, noted.at, noted.type, noted.change, noted.id,
                  noted.process_id AS "processId", noted.status, noted.language
             FROM unnest($1::text[], $2::bigint[]) AS asked (team, after)
             LEFT JOIN team_change_counts AS counted ON counted.team = asked.team
             LEFT JOIN team_changes AS noted ON noted.team = asked.team AND noted.number > asked.after
            ORDER BY asked.team, noted.number`,
    values: [teams.map(({ team }) => team), teams.map(({ after }) => after?.toString() ?? null)],
  })
  const found = Map.groupBy(rows, ({ team }) => team)
  return { teams: [...found].map(([team, some]) => ({ team, last: BigInt(some[0]!.last), changes: changesOf(some) })) }
}

function changesOf(rows: Row[]) {
  return rows.flatMap(({ number, at, type, change, id, processId, status, language }) => {
    if (number === null) return []
    const words = { processId: processId ?? '', status: status ?? '', language: language ?? '' }
    return [{ number: BigInt(number), at: timestampFromDate(at), type, change, id, ...words }]
  })
}
