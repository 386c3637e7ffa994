import { WatchTeamResponseSchema, type WatchTeamResponse } from '@automation/contract/execution/v1/team_event'
import { create } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { EventRow, RecordRow } from '../store/records.ts'
import type { TeamEventRow } from '../store/team-events.ts'
import { executionOf } from './execution-message.ts'

/** An event as readers are told of it. They share it. */
export interface TeamEvent {
  row: TeamEventRow
  message: WatchTeamResponse
  /** About so large. */
  bytes: number
}

/** What a message is made from. */
interface EventParts {
  position: string
  row: TeamEventRow
  /** As it was read, perhaps after a later event. */
  record: RecordRow
  timeline: EventRow[]
}

/** Beside the texts of a record. */
const otherBytes = 1000

/** The execution right after its event, as lists show it. */
export function eventMessage({ position, row, record, timeline }: EventParts): Omit<TeamEvent, 'row'> {
  // QUEUED stays QUEUED, whatever records show.
  const value = executionOf(recordAt(record, row), { events: timeline, waitingStatus: 'QUEUED' })
  const message = create(WatchTeamResponseSchema, {
    position,
    time: timestampFromDate(row.at),
    event: { case: 'execution', value },
  })
  const texts = [record.parameters, record.returnValue, record.comment, ...timeline.map((event) => event.explanation)]
  return { message, bytes: texts.reduce((sum, text) => sum + (text?.length ?? 0), otherBytes) }
}

function recordAt(record: RecordRow, { sequence, status, explanation, at }: TeamEventRow): RecordRow {
  if (record.sequence === sequence) return record
  return { ...record, sequence, status, explanation, updatedAt: at, updatedBy: null, returnValue: null }
}

/** Says that events are missing here. */
export function gapMessage(gap: { missed: number; since: Date; position: string }): WatchTeamResponse {
  const since = timestampFromDate(gap.since)
  return create(WatchTeamResponseSchema, {
    position: gap.position,
    time: since,
    event: { case: 'gap', value: { missed: gap.missed, since } },
  })
}
