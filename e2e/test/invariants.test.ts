import { describe, expect, test } from 'vitest'
import { Book } from '../chaos/book.ts'
import { changedSince, faultsBetween, faultsOf } from '../chaos/invariants.ts'
import type { Entry } from '../chaos/ledger.ts'
import { illegalStep } from '../chaos/transitions.ts'
import type { Execution, Status } from '../client/records.ts'

const at = '2026-01-01T00:00:00.000Z'

function execution(statuses: Status[], more: Partial<Execution> = {}): Execution {
  const events = statuses.map((status) => ({
    status,
    timestamp: at,
    ...(status === 'ERROR' ? { explanation: 'why' } : {}),
  }))
  return {
    id: '0190a0b0-0000-7000-8000-000000000001',
    processId: 'p',
    processName: 'worker',
    processSlug: 'worker',
    status: statuses.at(-1) ?? 'CREATED',
    timeline: { events },
    settings: { timeout: 1000 },
    createdBy: 'x',
    createdAt: at,
    updatedAt: at,
    trial: false,
    ...more,
  }
}

function entry(starts: number, ends: number, lastSeenAt = Date.parse(at)): Entry {
  const words = Array.from({ length: starts }, (_, n) => `${n}`)
  return { starts: new Set(words), ends, firstSeenAt: 0, lastSeenAt, process: undefined, children: [] }
}

const rulesOf = (faults: { rule: string }[]) => faults.map(({ rule }) => rule.split(' ')[0])
const finished: Status[] = ['CREATED', 'RUNNING', 'FINISHED']

describe('what the chaos run finds', () => {
  test('nothing, where everything is as promised', () => {
    expect(faultsOf(execution(finished), entry(1, 1), undefined)).toEqual([])
    expect(faultsOf(execution(['CREATED', 'QUEUED', 'KILLED']), undefined, undefined)).toEqual([])
    expect(faultsOf(execution(['CREATED', 'RUNNING', 'ERROR']), entry(1, 0), undefined)).toEqual([])
  })

  test.for<[string, Execution, Entry | undefined, string]>([
    ['a second start', execution(finished), entry(2, 1), 'I3'],
    ['a finish without a start', execution(finished), undefined, 'I3'],
    ['a start before RUNNING', execution(['CREATED', 'QUEUED', 'KILLED']), entry(1, 0), 'I3'],
    ['a step that is not allowed', execution(['CREATED', 'FINISHED']), entry(1, 1), 'I2'],
    ['a step after the end', execution(['CREATED', 'RUNNING', 'FINISHED', 'ERROR']), entry(1, 1), 'I1'],
    ['a status that is not the last event', execution(finished, { status: 'RUNNING' }), entry(1, 1), 'I5'],
    ['a run without an end', execution(['CREATED', 'RUNNING']), entry(1, 0), 'I6'],
    ['code that is heard of long after the end', execution(finished), entry(1, 1, Date.parse(at) + 60_000), 'I7'],
  ])('%s', (_case) => {
    const [, one, noted, rule] = _case
    expect(rulesOf(faultsOf(one, noted, undefined))).toContain(rule)
  })

  test('an answer that does not hold', () => {
    const killed = { id: 'x', by: 'kill', status: 'KILLED' as const }
    expect(rulesOf(faultsOf(execution(finished), entry(1, 1), killed))).toEqual(['what'])
    const promised = { id: 'x', by: 'sync', status: 'FINISHED' as const, returnValue: '1' }
    expect(rulesOf(faultsOf(execution(finished, { returnValue: '2' }), entry(1, 1), promised))).toEqual(['what'])
  })

  test('an acknowledged execution that is gone, and a key with two', () => {
    const book = new Book()
    book.note({ id: 'lost', by: 'execute' })
    book.noteKey('key 1', 'a')
    book.noteKey('key 1', 'b')
    const twice = new Map(['a', 'b'].map((id) => [id, execution(finished, { id, comment: 'key 1' })]))
    expect(rulesOf(faultsBetween(twice, new Map(), book))).toEqual(['I4', 'one', 'one'])
  })

  test('code that ran for an execution that is not there', () => {
    expect(rulesOf(faultsBetween(new Map(), new Map([['ghost', entry(1, 1)]]), new Book()))).toEqual(['I4'])
  })

  test('a terminal execution that looks different later', () => {
    const book = new Book()
    const before = execution(finished)
    book.terminal.set(before.id, before)
    expect(changedSince(book, new Map([[before.id, before]]))).toEqual([])
    expect(rulesOf(changedSince(book, new Map([[before.id, execution(['CREATED', 'RUNNING', 'ERROR'])]])))).toEqual([
      'I1',
    ])
  })

  test('every step of the engine is known', () => {
    expect(illegalStep(['CREATED', 'QUEUED', 'DEQUEUED', 'QUEUED', 'DEQUEUED', 'RUNNING', 'KILLED'])).toBeUndefined()
    expect(illegalStep(['QUEUED'])).toBe('begins with QUEUED')
    expect(illegalStep(['CREATED', 'DEQUEUED'])).toBe('CREATED → DEQUEUED')
  })
})
