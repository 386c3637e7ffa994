import { ExecutionEventSchema, type ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { Status } from '@automation/contract/execution/v1/execution'
import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { timestampDate } from '@bufbuild/protobuf/wkt'
import type { IHeaders } from 'kafkajs'

export interface KafkaMessage {
  /** The execution's id, so that its events stay in one partition. */
  key: string
  headers: Record<string, string>
  value: Buffer
}

/**
 * An event as a message: a CloudEvent in the binary mode of its Kafka binding, the attributes as headers, the data a
 * proto `ExecutionEvent`.
 */
export function messageOf(event: ExecutionEvent): KafkaMessage {
  const { executionId, team, processId, eventId, sequence, status, time, traceparent } = event
  return {
    key: executionId,
    headers: {
      ce_specversion: '1.0',
      ce_id: eventId,
      ce_source: `/teams/${encodeURIComponent(team)}/processes/${processId}`,
      ce_type: typeOf(status),
      ce_subject: executionId,
      ...(time === undefined ? {} : { ce_time: timestampDate(time).toISOString() }),
      // Extensions: names of lower-case letters and digits, values as text.
      ce_team: team,
      ce_sequence: String(sequence),
      ...(traceparent === undefined ? {} : { ce_traceparent: traceparent }),
      'content-type': 'application/protobuf',
    },
    value: Buffer.from(toBinary(ExecutionEventSchema, event)),
  }
}

/** `automation.execution.finished.v1`, and so for each status. */
export function typeOf(status: Status): string {
  return `automation.execution.${(Status[status] ?? 'unspecified').toLowerCase()}.v1`
}

/** The event in a message; undefined where it is none of ours. */
export function eventOf(message: { headers?: IHeaders; value: Buffer | null }): ExecutionEvent | undefined {
  const type = message.headers?.['ce_type']?.toString()
  if (message.value === null || !type?.startsWith('automation.execution.')) return undefined
  try {
    return fromBinary(ExecutionEventSchema, message.value)
  } catch {
    // Somebody else's bytes under our header.
    return undefined
  }
}
