import { Failure } from '@automation/errors'
import { afterEach, describe, expect, test } from 'vitest'
import { call, handlers, shapes, type ProbeHandlers, type Shape } from './shapes.ts'

describe.each(shapes)('%s', (_name, open) => {
  let shape: Shape | undefined
  const probeOf = async (given: Partial<ProbeHandlers>) => (shape = await open(handlers(given))).probe
  afterEach(async () => {
    await shape?.stop()
    shape = undefined
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

  test('4,000 messages, more than any buffer holds, go through a conversation one by one', async () => {
    const many = 4000
    const data = new Uint8Array(200)
    const probe = await probeOf({
      async *talk(requests) {
        for await (const { number } of requests) yield { number, data }
      },
    })
    async function* numbers() {
      for (let number = 0; number < many; number++) yield { number, data }
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

  test('a stream whose caller is gone already is not opened', async () => {
    let made = false
    const probe = await probeOf({
      async *count() {
        made = true
        yield {}
      },
    })
    const reading = (async () => {
      for await (const _ of probe.count({}, call({ signal: AbortSignal.abort() })));
    })()
    await expect(reading).rejects.toBeInstanceOf(Failure)
    expect(made).toBe(false)
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
