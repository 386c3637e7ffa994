import dns from 'node:dns/promises'
import { served } from '@automation/rpc'
import { serve, type ServedPort, type WireNetwork } from '@automation/rpc/wire'
import { silentLogger, until } from '@automation/testing'
import { afterEach, expect, test, vi } from 'vitest'
import { ProbeService } from './probe/probe_pb.ts'
import { call, handlers, internalKey, networkTo } from './shapes.ts'

const replicas: ServedPort[] = []
const networks: WireNetwork[] = []
let port = 0

afterEach(async () => {
  vi.restoreAllMocks()
  for (const network of networks.splice(0)) network.close()
  await Promise.all(replicas.splice(0).map((one) => one.close(0)))
  port = 0
})

/** What the name leads to, as name servers would say it. */
let addresses: string[]

/** Serves on this address, and says in each answer which it is. */
async function serveOn(host: string): Promise<void> {
  const handler = handlers({ ask: () => ({ text: host }) })
  const options = { internalKey, maxMessageBytes: 1_000_000, logger: silentLogger }
  const replica = await serve([served(ProbeService, handler)], { host, port, ...options })
  port = replica.port
  replicas.push(replica)
}

async function named(): Promise<WireNetwork> {
  vi.spyOn(dns, 'lookup').mockImplementation((async () => {
    if (addresses.length === 0) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    return addresses.map((address) => ({ address, family: 4 }))
  }) as unknown as typeof dns.lookup)
  const network = networkTo([], { addresses: { probe: [`probe.test:${port}`] } })
  networks.push(network)
  return network
}

/** How many of so many calls each replica gets. */
async function spread(network: WireNetwork, calls: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (let count = 0; count < calls; count += 1) {
    const { text } = await network.client(ProbeService).ask({}, call())
    counts[text] = (counts[text] ?? 0) + 1
  }
  return counts
}

test('calls are spread evenly over the replicas behind a name, those that come get theirs, those that go none', async () => {
  await serveOn('127.0.0.1')
  await serveOn('127.0.0.2')
  addresses = ['127.0.0.1', '127.0.0.2']
  const network = await named()
  await spread(network, 10)
  expect(await spread(network, 20)).toEqual({ '127.0.0.1': 10, '127.0.0.2': 10 })

  await serveOn('127.0.0.3')
  addresses = ['127.0.0.2', '127.0.0.3']
  await until(async () => '127.0.0.3' in (await spread(network, 4)))
  expect(await spread(network, 20)).toEqual({ '127.0.0.2': 10, '127.0.0.3': 10 })
  expect(network.replicas(ProbeService)).toEqual([`127.0.0.2:${port}`, `127.0.0.3:${port}`])
})

test('a name that leads nowhere any more leaves the replicas known, and one that never did is unavailable', async () => {
  await serveOn('127.0.0.1')
  addresses = []
  const network = await named()
  await expect(network.client(ProbeService).ask({}, call())).rejects.toMatchObject({ kind: 'unavailable' })
  addresses = ['127.0.0.1']
  expect(await spread(network, 2)).toEqual({ '127.0.0.1': 2 })
  addresses = []
  vi.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() + 60_000)
  expect(await spread(network, 2)).toEqual({ '127.0.0.1': 2 })
})
