import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test } from 'vitest'
import { call, handlers, shapes, type ProbeHandlers, type Shape } from './shapes.ts'

const messageBytes = 900_000
const streams = 16
const endless = 1000

/** One that waits at each end, one on its way from each, one in the hands of each side's gRPC. */
const mostHeldOf = 6

// Each is kept in up to two forms.
const mostBytes = streams * 2 * mostHeldOf * messageBytes

let shape: Shape | undefined
const [, openWire] = shapes.find(([name]) => name === 'over the wire')!
const probeOf = async (given: Partial<ProbeHandlers>) => (shape = await openWire(handlers(given))).probe
afterEach(async () => {
  await shape?.stop()
  shape = undefined
})

/** Messages as large as they may be; `made` counts those that were asked for. */
function flood(many = endless) {
  const counted = { made: 0, messages }
  return counted
  async function* messages() {
    for (; counted.made < many; counted.made++) yield { number: counted.made, data: new Uint8Array(messageBytes) }
  }
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** What is really held: garbage does not count. */
function heldBytes(): number {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

/** Time for whatever goes on by itself to go as far as it does. */
async function others({ probe }: Shape): Promise<void> {
  for (let calls = 0; calls < 300; calls++) await probe.ask({}, call())
}

test('answers that nobody takes are not made, and do not fill the memory', async () => {
  const floods = Array.from({ length: streams }, () => flood())
  const probe = await probeOf({ count: ({ number }) => floods[number]!.messages() })
  const before = heldBytes()
  const readers = floods.map((_, number) => probe.count({ number }, call())[Symbol.asyncIterator]())
  await Promise.all(readers.map((reader) => reader.next()))
  await others(shape!)
  const held = heldBytes() - before
  for (const { made } of floods) expect(made).toBeLessThanOrEqual(mostHeldOf)
  expect(held).toBeLessThan(mostBytes)
  for (const reader of readers) await reader.return?.()
})

test.each(['talk', 'gather'] as const)('requests that a handler does not take are not sent: %s', async (method) => {
  const floods = Array.from({ length: streams }, () => flood())
  const taken = Promise.withResolvers<void>()
  let heard = 0
  const listen = async (requests: AsyncIterable<unknown>, signal: AbortSignal) => {
    for await (const _ of requests) {
      if (++heard === streams) taken.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    }
  }
  const probe = await probeOf({
    gather: async (requests, { signal }) => (await listen(requests, signal), {}),
    async *talk(requests, { signal }) {
      await listen(requests, signal)
      yield {}
    },
  })
  const before = heldBytes()
  const caller = new AbortController()
  const context = call({ signal: caller.signal })
  const calls = floods.map(async ({ messages }) => {
    if (method === 'gather') await probe.gather(messages(), context)
    else for await (const _ of probe.talk(messages(), context));
  })
  const ended = Promise.allSettled(calls)
  await taken.promise
  await others(shape!)
  const held = heldBytes() - before
  for (const { made } of floods) expect(made).toBeLessThanOrEqual(mostHeldOf)
  expect(held).toBeLessThan(mostBytes)
  caller.abort()
  await ended
})

test('a reader that was slow gets all of it, in order', async () => {
  const { messages } = flood(40)
  const probe = await probeOf({ count: messages })
  const seen: number[] = []
  for await (const { number, data } of probe.count({}, call())) {
    if (seen.length === 0) await others(shape!)
    expect(data.length).toBe(messageBytes)
    seen.push(number)
  }
  expect(seen).toEqual(Array.from({ length: 40 }, (_, index) => index))
})
