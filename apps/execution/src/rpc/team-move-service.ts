import type { LeaveTeamResponseSchema, TeamMoveService } from '@automation/contract/execution/v1/team_move'
import { isUuid } from '@automation/contract/forms'
import { Failure, invalid } from '@automation/errors'
import type { FedEventBus } from '@automation/events'
import { operatorFor, type Handlers } from '@automation/rpc'
import type { Logger } from '@automation/service'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { Connections } from '../store/connections.ts'
import { fillDaysOfTeam } from '../store/counted-days.ts'
import { areHoursFilled, fillHoursOfTeam } from '../store/hourly-sums.ts'
import type { Partitions } from '../store/partitions.ts'
import { readTeamSlots, recountTeam } from '../store/run-slots.ts'
import {
  beginMark,
  clearTeam,
  countUndelivered,
  hasPools,
  hasSilentReplica,
  isUnknownToSome,
  joinCell,
  leaveCell,
  otherTableNames,
  readExecutions,
  readLeftTeam,
  readStay,
  readTable,
  sumUpTeam,
  tablesOfExecutions,
  writeExecutions,
  writeTable,
  type LeftTeam,
  type Mark,
} from '../store/team-moves.ts'
import { keptDaysOf } from '../store/start-keys.ts'
import { numbersAhead } from '../store/tracked-runs.ts'

interface TeamMoveParts {
  pool: Connections
  /** On which the numbers of events are known. */
  eventsPool: Connections
  partitions: Partitions
  retentionDays: number
  events: Pick<FedEventBus, 'readers' | 'mark'>
  /** All of this replica learn which teams have left. */
  lookAtMoves(): Promise<void>
  logger: Logger
}

/** Moves teams from this cell and to it. */
export function teamMoveService(parts: TeamMoveParts): Handlers<typeof TeamMoveService> {
  const { pool, eventsPool, partitions, retentionDays, events, logger } = parts
  /** Whether those who get events from a broker have had all of a team's, by the team and when that was asked. */
  const marks = new Map<string, Promise<() => Promise<boolean>>>()

  async function allHeard(key: string): Promise<boolean> {
    const mark = marks.get(key) ?? events.mark()
    marks.set(key, mark)
    try {
      return await (
        await mark
      )()
    } catch (error) {
      marks.delete(key)
      throw error
    }
  }

  /** Whether all is over in the cell that a team has left. */
  async function isOver({ team, movedAt }: LeftTeam): Promise<LeaveTeamInit> {
    const untoldEvents = await countUndelivered(pool, team, [...events.readers])
    if (untoldEvents > 0) return { untoldEvents, closed: true }
    const key = `${team} ${movedAt.getTime()}`
    if (!(await allHeard(key)) || (await isUnknownToSome(pool, movedAt))) return { closed: true }
    marks.delete(key)
    return { left: true, closed: true }
  }

  return {
    async beginCopy({ team }, context) {
      operatorFor(team, context)
      if (await hasPools(pool, team))
        throw new Failure(
          'failed_precondition',
          'team_has_pools',
          `The team ${team} has pools of its own, which do not move: delete them with pools delete`,
        )
      if (!(await areHoursFilled(pool, team)))
        throw new Failure(
          'failed_precondition',
          'sums_not_filled',
          'The sums that figures by the hour are read from are still being filled: do it again in some minutes',
        )
      const mark = await beginMark(pool, await numbersAhead(eventsPool, logger))
      return {
        mark: `${mark.id}.${mark.xid}`,
        tablesOfExecutions,
        otherTables: otherTableNames,
      }
    },

    async clearTeam({ team }, context) {
      operatorFor(team, context)
      return { done: await clearTeam(pool, team) }
    },

    async readExecutions({ team, mark, changed, after, beforeMark }, context) {
      operatorFor(team, context)
      if (after !== '' && !isUuid(after)) throw invalid('/after', 'must be the id of an execution')
      const marks = { mark: markIn(mark), beforeMark: beforeMark === '' ? undefined : markIn(beforeMark) }
      const keptDays = keptDaysOf(retentionDays)
      const rows = await readExecutions(pool, team, { ...marks, changed, after, keptDays })
      return { rows: arrayOf(rows), count: rows.length, executionIds: rows.map((row) => (JSON.parse(row) as Row).id) }
    },

    async readRows({ team, table, executionIds, after, mark, changed }, context) {
      operatorFor(team, context)
      if (!executionIds.every(isUuid)) throw invalid('/executionIds', 'must be ids of executions')
      const rows = await readTable(pool, team, { table, executionIds, after, mark: markIn(mark), changed })
      if (rows === undefined) throw invalid('/table', 'must be a table that a team takes along')
      return { rows: arrayOf(rows), count: rows.length, last: rows.at(-1) ?? '' }
    },

    async writeRows({ team, table, rows, executionIds }, context) {
      operatorFor(team, context)
      if (table === 'executions') {
        if (!executionIds.every(isUuid)) throw invalid('/executionIds', 'must be ids of executions')
        await partitions.ensureFor(executionIds)
        await writeExecutions(pool, team, rows)
      } else if (isTable(table)) await writeTable(pool, team, table, rows)
      else throw invalid('/table', 'must be a table that a team takes along')
      return {}
    },

    async leaveTeam({ team, cell }, context) {
      operatorFor(team, context)
      const left = await readLeftTeam(pool, team)
      if (left !== undefined) return isOver(left)
      if (await hasSilentReplica(pool))
        throw new Failure(
          'failed_precondition',
          'replica_of_before',
          'A replica of execution does not say that it knows of moves: it is of a release before, or has just begun',
        )
      const stay = await readStay(pool, team, [...events.readers])
      if (stay.running > 0 || stay.undelivered > 0) {
        marks.delete(team)
        return { running: stay.running, untoldEvents: stay.undelivered }
      }
      if (!(await allHeard(team))) return { untoldEvents: 1 }
      marks.delete(team)
      const { running, undelivered } = await leaveCell(pool, team, cell, [...events.readers])
      await parts.lookAtMoves()
      return { running, untoldEvents: undelivered }
    },

    async joinTeam({ team }, context) {
      operatorFor(team, context)
      await joinCell(pool, team)
      await recountTeam(pool, team)
      await fillDaysOfTeam(pool, team)
      await fillHoursOfTeam(pool, team)
      await parts.lookAtMoves()
      return { waiting: (await readTeamSlots(pool, team)).queued }
    },

    async sumUpTeam({ team, mark }, context) {
      operatorFor(team, context)
      const sum = await sumUpTeam(pool, team, markIn(mark))
      return {
        executions: BigInt(sum.executions),
        events: BigInt(sum.events),
        living: BigInt(sum.living),
        others: BigInt(sum.others),
      }
    },
  }
}

type LeaveTeamInit = MessageInitShape<typeof LeaveTeamResponseSchema>

interface Row {
  id: string
}

function arrayOf(rows: string[]): string {
  return `[${rows.join(',')}]`
}

function isTable(table: string): boolean {
  return otherTableNames.includes(table) || tablesOfExecutions.includes(table)
}

function markIn(text: string): Mark {
  const [, id, xid] = /^([0-9a-f-]{36})\.(\d{1,19})$/.exec(text) ?? []
  if (id === undefined || xid === undefined) throw invalid('/mark', 'must be the mark of BeginCopy')
  return { id, xid: BigInt(xid) }
}
