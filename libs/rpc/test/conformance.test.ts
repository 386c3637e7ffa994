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
    const deadlineMs = Date.now() + 3000
    await probe.ask({}, call({ requestId: 'request-7', traceparent, deadlineMs }))
    expect(seen).toMatchObject({ principal: user, requestId: 'request-7', traceparent })
    expect(Math.abs(seen!.deadlineMs! - deadlineMs)).toBeLessThan(200)
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
    const told = Promise.withResolvers<unknown>()
    const probe = await probeOf({
      ask: (_request, { signal }) => {
        signal.addEventListener('abort', () => told.resolve(signal.reason))
        return new Promise(() => undefined)
      },
    })
    const before = Date.now()
    await expect(probe.ask({}, call({ deadlineMs: before + 150 }))).rejects.toMatchObject({ kind: 'deadline_exceeded' })
    expect(Date.now() - before).toBeLessThan(1000)
    expect(await told.promise).toMatchObject({ kind: 'deadline_exceeded' })
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
    const told = Promise.withResolvers<unknown>()
    const started = Promise.withResolvers<void>()
    const probe = await probeOf({
      ask: (_request, { signal }) => {
        started.resolve()
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            told.resolve(signal.reason)
            reject(new Error('gone'))
          })
        })
      },
    })
    const caller = new AbortController()
    const answer = expect(probe.ask({}, call({ signal: caller.signal }))).rejects.toBeInstanceOf(Failure)
    await started.promise
    caller.abort()
    await told.promise
    await answer
  })

  test('a stream of answers arrives in order and whole', async () => {
    const probe = await probeOf({
      async *count({ number }) {
        for (let index = 0; index < number; index++) yield { number: index }
      },
    })
    const seen: number[] = []
    for await (const { number } of probe.count({ number: 1000 }, call())) seen.push(number)
    expect(seen).toEqual(Array.from({ length: 1000 }, (_, index) => index))
  })

  test('a stream that fails gives what came before, then the failure', async () => {
    const probe = await probeOf({
      async *count() {
        yield { number: 1 }
        throw new Failure('not_found', 'thing_not_found', 'Thing not found')
      },
    })
    const seen: number[] = []
    const reading = (async () => {
      for await (const { number } of probe.count({}, call())) seen.push(number)
    })()
    await expect(reading).rejects.toMatchObject({ kind: 'not_found', code: 'thing_not_found' })
    expect(seen).toEqual([1])
  })

  test('a reader that stops early ends the stream, and what the handler holds is given back', async () => {
    const over = Promise.withResolvers<void>()
    const probe = await probeOf({
      async *count(_request, { signal }) {
        try {
          for (let number = 0; !signal.aborted; number++) {
            yield { number }
            await new Promise((resolve) => setImmediate(resolve))
          }
        } finally {
          over.resolve()
        }
      },
    })
    for await (const { number } of probe.count({}, call())) if (number === 3) break
    await over.promise
  })

  test('a slow reader slows the handler down', async () => {
    let made = 0
    const data = new Uint8Array(10_000)
    const probe = await probeOf({
      async *count() {
        for (; made < 100_000; made++) yield { data }
      },
    })
    for await (const _ of probe.count({}, call())) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      break
    }
    expect(made).toBeLessThan(1000)
  })

  test('both sides of a conversation speak when they like', async () => {
    const probe = await probeOf({
      async *talk(requests) {
        yield { text: 'welcome' }
        for await (const { text } of requests) yield { text: `re: ${text}` }
        yield { text: 'bye' }
      },
    })
    const say = queue<{ text: string }>()
    const heard: string[] = []
    for await (const { text } of probe.talk(say.messages(), call())) {
      heard.push(text)
      if (heard.length <= 3) say.add({ text: String(heard.length) })
      if (heard.length === 4) say.end()
    }
    expect(heard).toEqual(['welcome', 're: 1', 're: 2', 're: 3', 'bye'])
  })

  test('a handler that stops listening goes on speaking', async () => {
    const probe = await probeOf({
      async *talk(requests) {
        for await (const { text } of requests) {
          yield { text }
          break
        }
        for (let number = 0; number < 100; number++) yield { number }
      },
    })
    const say = queue<{ text: string }>()
    say.add({ text: 'one' })
    say.add({ text: 'two' })
    let heard = 0
    for await (const _ of probe.talk(say.messages(), call())) heard++
    expect(heard).toBe(101)
  })

  test('20,000 messages go through a conversation one by one', { timeout: 60_000 }, async () => {
    const many = 20_000
    const probe = await probeOf({
      async *talk(requests) {
        for await (const { number } of requests) yield { number }
      },
    })
    async function* numbers() {
      for (let number = 0; number < many; number++) yield { number }
    }
    let next = 0
    for await (const { number } of probe.talk(numbers(), call())) expect(number).toBe(next++)
    expect(next).toBe(many)
  })

  test('a conversation ends for both when the caller goes away, whatever they wait for', async () => {
    const over = Promise.withResolvers<void>()
    const probe = await probeOf({
      async *talk(requests) {
        try {
          yield { text: 'welcome' }
          for await (const _ of requests);
        } finally {
          over.resolve()
        }
      },
    })
    const caller = new AbortController()
    const reading = (async () => {
      for await (const _ of probe.talk(queue<{ text: string }>().messages(), call({ signal: caller.signal })))
        setTimeout(() => caller.abort(), 20)
    })()
    await expect(reading).rejects.toBeInstanceOf(Failure)
    await over.promise
  })

  test('what breaks the requests ends the conversation with it', async () => {
    const probe = await probeOf({
      async *talk(requests) {
        for await (const { text } of requests) yield { text }
      },
    })
    async function* broken() {
      yield { text: 'one' }
      throw new Failure('failed_precondition', 'broken', 'Broken')
    }
    const reading = (async () => {
      for await (const _ of probe.talk(broken(), call()));
    })()
    await expect(reading).rejects.toMatchObject({ code: 'broken' })
  })

  test('a call whose caller is gone already is not made', async () => {
    let made = false
    const probe = await probeOf({
      async *count() {
        made = true
      },
    })
    const reading = (async () => {
      for await (const _ of probe.count({}, call({ signal: AbortSignal.abort() })));
    })()
    await expect(reading).rejects.toBeInstanceOf(Failure)
    expect(made).toBe(false)
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

function queue<T>() {
  const waiting: T[] = []
  let ended = false
  let wake: (() => void) | undefined
  return {
    add: (message: T) => {
      waiting.push(message)
      wake?.()
    },
    end: () => {
      ended = true
      wake?.()
    },
    async *messages() {
      for (;;) {
        const message = waiting.shift()
        if (message !== undefined) yield message
        else if (ended) return
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}
