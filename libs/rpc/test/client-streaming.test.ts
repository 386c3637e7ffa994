import { Failure } from '@automation/errors'
import { afterEach, describe, expect, test } from 'vitest'
import { call, handlers, shapes, type ProbeHandlers, type Shape } from './shapes.ts'

async function* questions(...texts: string[]) {
  for (const text of texts) yield { text }
}

describe.each(shapes)('requests in a stream, one answer, %s', (_name, open) => {
  let shape: Shape | undefined
  const probeOf = async (given: Partial<ProbeHandlers>) => (shape = await open(handlers(given))).probe
  afterEach(async () => {
    await shape?.stop()
    shape = undefined
  })

  test('all requests arrive in order before the answer is made', async () => {
    const probe = await probeOf({
      gather: async (requests) => ({ text: (await Array.fromAsync(requests, ({ text }) => text)).join() }),
    })
    expect((await probe.gather(questions('a', 'b', 'c'), call())).text).toBe('a,b,c')
  })

  test('a handler may refuse before it has heard all', async () => {
    const probe = await probeOf({
      gather: () => Promise.reject(new Failure('already_exists', 'thing_exists', 'It is there')),
    })
    async function* endless() {
      for (;;) {
        yield { text: 'more' }
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await expect(probe.gather(endless(), call())).rejects.toMatchObject({ code: 'thing_exists' })
  })

  test('requests that break off are told to their sender as they broke', async () => {
    const probe = await probeOf({
      gather: async (requests) => ({ number: (await Array.fromAsync(requests)).length }),
    })
    async function* broken() {
      yield { text: 'a' }
      throw new RangeError('the source broke')
    }
    await expect(probe.gather(broken(), call())).rejects.toSatisfy(
      (error: Error) => error.message === 'the source broke' || (error.cause as Error).message === 'the source broke',
    )
  })

  test('a caller that gives up ends the handler’s wait', async () => {
    const over = Promise.withResolvers<unknown>()
    const begun = Promise.withResolvers<void>()
    const probe = await probeOf({
      gather: async (requests) => {
        try {
          for await (const _ of requests) begun.resolve()
          return {}
        } finally {
          over.resolve(undefined)
        }
      },
    })
    async function* silent() {
      yield { text: 'a' }
      await new Promise(() => undefined)
    }
    const caller = new AbortController()
    const waiting = probe.gather(silent(), call({ signal: caller.signal }))
    const failed = waiting.catch((error: unknown) => error)
    await begun.promise
    caller.abort()
    expect(await failed).toMatchObject({ kind: 'unavailable' })
    await over.promise
  })
})
