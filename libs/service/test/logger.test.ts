import { createLogger } from '@automation/service'
import { expect, test, vi } from 'vitest'

function logged(write: (logger: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = []
  write(createLogger({ service: 'example', level: 'info', destination: { write: (line) => void lines.push(line) } }))
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('a line is JSON with time, level, service, ids and words', () => {
  const [line] = logged((logger) => logger.child({ requestId: 'r1' }).info({ executionId: 'e1' }, 'done'))
  expect(line).toMatchObject({ level: 'info', service: 'example', requestId: 'r1', executionId: 'e1', msg: 'done' })
  expect(Date.parse(line!['time'] as string)).toBeGreaterThan(Date.now() - 10_000)
})

test('what is named like a secret is masked, at the top and in what is logged with it', () => {
  const text = JSON.stringify(
    logged((logger) =>
      logger.info({
        password: 'hidden1',
        headers: { authorization: 'Bearer hidden2', 'x-api-token': 'hidden3', accept: 'shown' },
        request: { headers: { authorization: 'hidden4' }, token: 'hidden5' },
      }),
    ),
  )
  expect(text).not.toMatch(/hidden/)
  expect(text).toContain('shown')
})

test('an error is told with its causes, without the rows and statements that it carries', () => {
  const cause = Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (value)=(hidden) exists' })
  const [line] = logged((logger) => logger.error({ err: new Error('not stored', { cause }) }, 'failed'))
  expect(line!['err']).toMatchObject({ message: 'not stored', cause: { message: 'duplicate key', code: '23505' } })
  expect(JSON.stringify(line)).not.toContain('hidden')
})

test('a call that took too long is told as any error, also beside one', () => {
  const cause = new DOMException('The operation timed out', 'TimeoutError')
  const [line] = logged((logger) => logger.warn({ err: new Error('no answer', { cause }), cause }, 'late'))
  expect(line).toMatchObject({ err: { cause: { type: 'TimeoutError' } }, cause: { type: 'TimeoutError' } })
})

test('line breaks in what is logged make no second line', () => {
  expect(logged((logger) => logger.info('one\n{"level":"fatal"}'))).toHaveLength(1)
})

test('a failure that comes again and again is told once in 5 s, and then how often it came', () => {
  vi.useFakeTimers()
  const lines = logged((logger) => {
    const fail = (message = 'no space left', by = logger) => by.warn({ err: new Error(message) }, 'failed')
    for (let nth = 0; nth < 100; nth += 1) fail()
    fail('refused')
    for (const requestId of ['r1', 'r2']) fail('no space left', logger.child({ requestId }))
    for (const executionId of ['e1', 'e1']) logger.warn({ executionId }, 'ended')
    vi.advanceTimersByTime(5001)
    fail()
    fail()
  })
  vi.useRealTimers()
  expect(lines).toMatchObject([
    { msg: 'failed', err: { message: 'no space left' } },
    { msg: 'failed', err: { message: 'refused' } },
    { msg: 'failed', requestId: 'r1' },
    { msg: 'failed', requestId: 'r2' },
    { executionId: 'e1' },
    { executionId: 'e1' },
    { msg: 'failed', leftOut: 99 },
  ])
})

test('of more different failures than a process can remember each is told', () => {
  const lines = logged((logger) => {
    const fail = (requestId: number) => logger.warn({ err: new Error('refused'), requestId }, 'failed')
    for (let requestId = 0; requestId < 3000; requestId += 1) fail(requestId)
    for (const requestId of [2999, 0]) fail(requestId)
  })
  expect(lines).toHaveLength(3001)
  expect(lines.at(-1)).toMatchObject({ requestId: 0 })
})
