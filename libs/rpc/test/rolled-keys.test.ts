import { served, type Principal } from '@automation/rpc'
import { ownPairs } from '@automation/rpc/key-ring'
import { serve, WireNetwork, type ServedPort } from '@automation/rpc/wire'
import { freePorts, silentLogger, until } from '@automation/testing'
import { expect, test } from 'vitest'
import { call, handlers, user } from './shapes.ts'
import { ProbeService } from './probe/probe_pb.ts'

const [old, next] = ['the key of today '.repeat(3), 'the key of tomorrow '.repeat(3)]
const pairs = { old: ownPairs(old, 'gateway'), next: ownPairs(next, 'gateway') }
/** What servers and callers have in each step: the first of a ring signs. */
const steps = [
  { ring: `${old},${pairs.old.publicRing}`, gateway: pairs.old.privateRing },
  { ring: `${old},${next},${pairs.old.publicRing},${pairs.next.publicRing}`, gateway: pairs.old.privateRing },
  { ring: `${next},${old},${pairs.next.publicRing},${pairs.old.publicRing}`, gateway: pairs.next.privateRing },
  { ring: `${next},${pairs.next.publicRing}`, gateway: pairs.next.privateRing },
]
const service: Principal = { role: 'service', team: 'demo', subject: 'execution', name: 'execution' }

test('keys are rotated replica by replica under load, at servers and callers, and no call fails', async () => {
  const ports = await freePorts(2)
  const start = (port: number, internalKey: string) =>
    serve([served(ProbeService, handlers())], {
      ...{ host: '127.0.0.1', port, internalKey, maxMessageBytes: 1000, logger: silentLogger },
    })
  const replicas: ServedPort[] = await Promise.all(ports.map((port) => start(port, steps[0]!.ring)))
  const networkWith = (internalKey: string) =>
    new WireNetwork({
      addresses: { probe: ports.map((port) => `127.0.0.1:${port}`) },
      ...{ key: { internalKey }, maxMessageBytes: 1000, connectWithinMs: 500 },
    })
  let over = false
  const failures: unknown[] = []
  const callers = (['ring', 'gateway'] as const).map((kind) => {
    const caller = { kind, network: networkWith(steps[0]![kind]), calls: 0, ended: Promise.resolve() }
    const principal = kind === 'ring' ? service : user
    caller.ended = (async () => {
      for (; !over; caller.calls += 1)
        await caller.network
          .client(ProbeService)
          // Each a token of its own, which no server knows yet.
          .ask({}, call({ principal: { ...principal, ip: `${caller.calls}` }, deadlineMs: Date.now() + 30_000 }))
          .catch((error: unknown) => failures.push(error))
    })()
    return caller
  })
  const further = async () => {
    const reached = callers.map(({ calls }) => calls + 10)
    await until(() => callers.every(({ calls }, index) => calls >= reached[index]!))
  }
  await further()
  for (const step of steps.slice(1)) {
    for (const [index, port] of ports.entries()) {
      replicas[index]!.drain()
      await replicas[index]!.close(5000)
      replicas[index] = await start(port, step.ring)
      // As minReadySeconds: the next one goes when this one is found.
      await Promise.all(callers.map(({ network }) => network.at(ProbeService, `127.0.0.1:${port}`).ask({}, call())))
      await further()
    }
    for (const caller of callers) {
      const former = caller.network
      caller.network = networkWith(step[caller.kind])
      await further()
      former.close()
    }
  }
  over = true
  await Promise.all(callers.map(({ ended }) => ended))
  expect(failures).toEqual([])
  const removed = networkWith(old)
  await expect(removed.client(ProbeService).ask({}, call())).rejects.toMatchObject({ kind: 'unauthenticated' })
  for (const network of [removed, ...callers.map((caller) => caller.network)]) network.close()
  await Promise.all(replicas.map((replica) => replica.close(0)))
})
