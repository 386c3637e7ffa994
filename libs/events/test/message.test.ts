import { ExecutionEventSchema } from '@automation/contract/events/v1/execution_event'
import { Status } from '@automation/contract/execution/v1/execution'
import { create } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { expect, test } from 'vitest'
import { eventOf, messageOf, typeOf } from '../src/kafka/kafka-message.ts'
import { partitionOf } from '../src/kafka/publisher.ts'

const executionId = '01a1f9eb-fbbb-755c-af08-7e35bbeaa9fd'
const event = create(ExecutionEventSchema, {
  eventId: `${executionId}:3`,
  executionId,
  team: 'demo',
  processId: '01a1f9eb-0000-755c-af08-7e35bbeaa9fd',
  sequence: 3,
  status: Status.ERROR,
  time: timestampFromMs(Date.UTC(2026, 10, 20, 12)),
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
})

test('an event travels as a CloudEvent in binary mode, keyed by its execution, and comes back whole', () => {
  const { key, headers, value } = messageOf(event)
  expect(key).toBe(executionId)
  expect(headers).toEqual({
    ce_specversion: '1.0',
    ce_id: `${executionId}:3`,
    ce_source: '/teams/demo/processes/01a1f9eb-0000-755c-af08-7e35bbeaa9fd',
    ce_type: 'automation.execution.error.v1',
    ce_subject: executionId,
    ce_time: '2026-11-20T12:00:00.000Z',
    ce_team: 'demo',
    ce_sequence: '3',
    ce_traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'content-type': 'application/protobuf',
  })
  expect(eventOf({ headers, value })).toEqual(event)
})

test('every status has a type of its own', () => {
  const statuses = Object.values(Status).filter((status) => typeof status === 'number' && status !== 0) as Status[]
  expect(new Set(statuses.map(typeOf)).size).toBe(statuses.length)
})

test('a message of somebody else, or one that is broken, is no event', () => {
  const { headers, value } = messageOf(event)
  expect(eventOf({ value })).toBeUndefined()
  expect(eventOf({ headers: { ...headers, ce_type: 'com.example.other' }, value })).toBeUndefined()
  expect(eventOf({ headers, value: null })).toBeUndefined()
  expect(eventOf({ headers, value: Buffer.from([255, 255, 255]) })).toBeUndefined()
})

test('executions spread over all partitions, and each stays in its own', () => {
  const counts = [0, 0, 0, 0, 0, 0]
  for (let n = 0; n < 6000; n++) {
    const id = `execution-${n}`
    counts[partitionOf(id, 6)]! += 1
    expect(partitionOf(id, 6)).toBe(partitionOf(id, 6))
  }
  expect(Math.min(...counts)).toBeGreaterThan(800)
})
