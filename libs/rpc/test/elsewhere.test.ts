import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { listening } from '@automation/testing/listening'
import { stopping, unavailable } from '@automation/errors'
import type { ServedPort, WireNetwork } from '@automation/rpc/wire'
import { afterEach, expect, test } from 'vitest'
import { ProbeService } from './probe/probe_pb.ts'
import { call, handlers, networkTo, serveProbe, type ProbeHandlers } from './shapes.ts'

const served: ServedPort[] = []
let network: WireNetwork

afterEach(async () => {
  network.close()
  await Promise.all(served.splice(0).map((one) => one.close(0)))
})

async function serveAll(...replicas: Partial<ProbeHandlers>[]) {
  for (const replica of replicas) served.push(await serveProbe(handlers(replica)))
  network = networkTo(served.map(({ port }) => port))
  return network.client(ProbeService)
}

test('what a stopping replica refuses is asked of another, and the stopping one is left alone', async () => {
  let refusals = 0
  const refuse = () => {
    refusals += 1
    throw stopping()
  }
  const probe = await serveAll({ ask: refuse }, { ask: () => ({ text: 'done' }) })
  for (let count = 0; count < 10; count += 1) expect((await probe.ask({}, call())).text).toBe('done')
  expect(refusals).toBe(1)
})

test('what a replica refuses that does not believe the caller is asked of another, and it is left alone', async () => {
  served.push(await serveProbe(handlers({}), 0, undefined, 'the key of another system'))
  const probe = await serveAll({ ask: () => ({ text: 'done' }) })
  for (let count = 0; count < 10; count += 1) expect((await probe.ask({}, call())).text).toBe('done')
})

test('where every replica is stopping, that is the answer', async () => {
  const refuse = () => {
    throw stopping()
  }
  const probe = await serveAll({ ask: refuse }, { ask: refuse })
  await expect(probe.ask({}, call())).rejects.toMatchObject({ kind: 'unavailable', code: 'stopping', retryAfterS: 1 })
})

test.for([
  ['a read', 'look'],
  ['what may be called twice', 'put'],
] as const)('%s whose replica goes away in the middle is made again elsewhere', async ([, method]) => {
  const vanish = () => served[0]!.close(0).then(() => ({}))
  const probe = await serveAll({ [method]: vanish }, { [method]: () => ({ text: 'there' }) })
  expect((await probe[method]({}, call())).text).toBe('there')
})

test('what never came to a replica that is gone is asked of another, whatever it does', async () => {
  const probe = await serveAll({}, { ask: () => ({ text: 'done' }) })
  await served[0]!.close(0)
  for (let count = 0; count < 4; count += 1) expect((await probe.ask({}, call())).text).toBe('done')
})

test('the first calls go to the replica that is there, and wait for none that says nothing', async () => {
  const silent = await listening(createServer())
  served.push(await serveProbe(handlers({ ask: () => ({ text: 'done' }) })))
  const ports = [silent.port, served[0]!.port]
  network = networkTo(ports, { connectWithinMs: 60_000 })
  const probe = network.client(ProbeService)
  const answers = await Promise.all([1, 2, 3, 4].map(() => probe.ask({}, call())))
  expect(answers.map(({ text }) => text)).toEqual(answers.map(() => 'done'))
  await silent.close()
})

test('what may have changed something is not made again', async () => {
  let asked = 0
  const vanish = () => served[0]!.close(0).then(() => ({}))
  const count = () => {
    asked += 1
    return {}
  }
  const probe = await serveAll({ ask: vanish }, { ask: count })
  await expect(probe.ask({}, call())).rejects.toMatchObject({ kind: 'unavailable' })
  expect(asked).toBe(0)
})

test('a read that nobody answers ends by its deadline', async () => {
  const probe = await serveAll({})
  await served[0]!.close(0)
  await expect(probe.look({}, call({ deadlineMs: Date.now() + 300 }))).rejects.toMatchObject({
    kind: expect.stringMatching(/unavailable|deadline_exceeded/),
  })
})

test('a read that its replica does not answer is asked of another, and the silent one is left alone', async () => {
  const { promise: never, resolve } = Promise.withResolvers<object>()
  let silent = 0
  const probe = await serveAll({ look: () => (silent++, never) }, { look: () => ({ text: 'there' }) })
  for (let count = 0; count < 10; count += 1) {
    const { text } = await probe.look({}, call({ deadlineMs: Date.now() + 2300 }))
    expect(text).toBe('there')
  }
  expect(silent).toBe(1)
  resolve({})
})

test('a read that was also asked of another waits for that where the first one fails', async () => {
  let asked = 0
  const look = async () => {
    asked += 1
    const isFirst = asked === 1
    await delay(isFirst ? 2700 : 1000)
    if (isFirst) throw unavailable('away')
    return { text: 'there' }
  }
  const probe = await serveAll({ look }, { look })
  expect((await probe.look({}, call({ deadlineMs: Date.now() + 4000 }))).text).toBe('there')
  expect(asked).toBe(2)
})

test('a stream that waits for a connection ends with its caller', async () => {
  const caller = new AbortController()
  const door = await listening(createServer(() => caller.abort()))
  network = networkTo([door.port], { connectWithinMs: 120_000 })
  const counting = network.client(ProbeService).count({}, { ...call(), signal: caller.signal })
  await expect(counting[Symbol.asyncIterator]().next()).rejects.toThrow('The call was cancelled')
  await door.close()
})

test('a stream waits for a connection that has to be made anew', async () => {
  const { port } = await serveProbe(
    handlers({
      async *count() {
        yield { number: 7 }
      },
    }),
  ).then((one) => (served.push(one), one))
  let came = 0
  // The first one that comes hears nothing.
  const server = createServer((socket) => {
    came += 1
    if (came > 1) socket.pipe(connect(port, '127.0.0.1')).pipe(socket)
  })
  const door = await listening(server)
  network = networkTo([door.port])
  const probe = network.client(ProbeService)
  const seen: number[] = []
  for await (const { number } of probe.count({}, call())) seen.push(number)
  expect(seen).toEqual([7])
  expect(came).toBe(2)
  await door.close()
})
