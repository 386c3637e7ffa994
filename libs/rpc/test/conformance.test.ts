import { Failure, type FailureKind } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import { afterEach, describe, expect, test } from 'vitest'
import { call, handlers, shapes, user, type ProbeHandlers, type Shape } from './shapes.ts'

describe.each(shapes)('%s', (_name, open) => {
  let shape: Shape | undefined
  const probeOf = async (given: Partial<ProbeHandlers>) => (shape = await open(handlers(given))).probe
  afterEach(async () => {
    await shape?.stop()
    shape = undefined
  })

  test('a message arrives as it was sent, and so does the answer', async () => {
    const probe = await probeOf({
      ask: ({ text, number, data }) => ({ text: text.toUpperCase(), number: number + 1, data }),
    })
    const answer = await probe.ask({ text: 'hällo', number: 41, data: Uint8Array.of(0, 255) }, call())
    expect(answer).toMatchObject({ text: 'HÄLLO', number: 42 })
    expect([...answer.data]).toEqual([0, 255])
  })

  test('principal, request id, trace and deadline reach the handler', async () => {
    let seen: CallContext | undefined
    const probe = await probeOf({ ask: (_request, context) => ((seen = context), {}) })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const deadlineMs = Date.now() + 600_000
    await probe.ask({}, call({ requestId: 'request-7', traceparent, deadlineMs }))
    expect(seen).toMatchObject({ principal: user, requestId: 'request-7', traceparent })
    expect(Math.abs(seen!.deadlineMs! - deadlineMs)).toBeLessThan(60_000)
  })

  test('a call without a deadline gets one', async () => {
    let seen: CallContext | undefined
    const probe = await probeOf({ ask: (_request, context) => ((seen = context), {}) })
    await probe.ask({}, call())
    expect(seen!.deadlineMs).toBeGreaterThan(Date.now() + 5000)
  })

  const kinds: FailureKind[] = [
    ...(['invalid_argument', 'unauthenticated', 'permission_denied', 'not_found', 'already_exists'] as const),
    ...(['failed_precondition', 'too_large', 'resource_exhausted', 'unavailable'] as const),
    ...(['deadline_exceeded', 'unimplemented', 'internal'] as const),
  ]
  test.each(kinds)('a failure of kind %s arrives whole', async (kind) => {
    const failure = new Failure(kind, 'some_code', 'Ein Satz für Menschen', {
      fields: [{ path: '/settings/timeout', message: 'zu groß' }],
      retryAfterS: 7,
      executionId: '0190',
      cause: new Error('inside'),
    })
    const probe = await probeOf({ ask: () => Promise.reject(failure) })
    const thrown = await probe.ask({}, call()).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(Failure)
    const { code, message, fields, retryAfterS, executionId } = failure
    expect(thrown).toMatchObject({ kind, code, message, fields, retryAfterS, executionId })
  })

  test('anything else that a handler throws is internal, its text stays inside', async () => {
    const probe = await probeOf({
      ask: () => {
        throw new TypeError('SELECT secret')
      },
    })
    await expect(probe.ask({}, call())).rejects.toMatchObject({ kind: 'internal', message: 'Internal error' })
  })

  test('a failure with more faults than fit is still that failure', async () => {
    const fields = Array.from({ length: 1000 }, (_, index) => ({ path: `/${index}`, message: 'x'.repeat(100) }))
    const probe = await probeOf({
      ask: () => Promise.reject(new Failure('invalid_argument', 'many', 'Many faults', { fields })),
    })
    const thrown: Failure = await probe.ask({}, call()).then(
      () => expect.unreachable(),
      (error: Failure) => error,
    )
    expect(thrown).toMatchObject({ kind: 'invalid_argument', code: 'many' })
    expect(thrown.fields[0]).toEqual(fields[0])
  })

  test('at the deadline the caller is answered and the handler is told', async () => {
    const aborted = Promise.withResolvers<unknown>()
    const probe = await probeOf({
      ask: (_request, { signal }) => {
        signal.addEventListener('abort', () => aborted.resolve(signal.reason))
        return new Promise(() => undefined)
      },
    })
    await expect(probe.ask({}, call({ deadlineMs: Date.now() + 150 }))).rejects.toMatchObject({
      kind: 'deadline_exceeded',
    })
    expect(await aborted.promise).toMatchObject({ kind: 'deadline_exceeded' })
  })

  test('a call whose deadline is over is not started', async () => {
    let started = false
    const probe = await probeOf({ ask: () => ((started = true), {}) })
    await expect(probe.ask({}, call({ deadlineMs: Date.now() - 1 }))).rejects.toMatchObject({
      kind: 'deadline_exceeded',
    })
    expect(started).toBe(false)
  })

  test('a handler is told that the caller went away', async () => {
    const aborted = Promise.withResolvers<unknown>()
    const started = Promise.withResolvers<void>()
    const probe = await probeOf({
      ask: (_request, { signal }) => {
        started.resolve()
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted.resolve(signal.reason)
            reject(new Error('gone'))
          })
        })
      },
    })
    const caller = new AbortController()
    const answer = probe.ask({}, call({ signal: caller.signal })).catch((error: unknown) => error)
    await started.promise
    caller.abort()
    await aborted.promise
    expect(await answer).toBeInstanceOf(Failure)
  })

  test('many calls at once each get their own answer', async () => {
    const probe = await probeOf({
      ask: async ({ number }) => {
        await new Promise((resolve) => setTimeout(resolve, number % 7))
        return { number }
      },
    })
    const answers = await Promise.all(Array.from({ length: 500 }, (_, number) => probe.ask({ number }, call())))
    expect(answers.map(({ number }) => number)).toEqual(answers.map((_, index) => index))
  })
})
