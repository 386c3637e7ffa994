import type { ServedPort, WireNetwork } from '@automation/rpc/wire'
import { until } from '@automation/testing'
import { afterEach, expect, test } from 'vitest'
import { replicasFor } from '../src/replica-of-team.ts'
import { ProbeService } from './probe/probe_pb.ts'
import { call, handlers, networkTo, serveProbe, user } from './shapes.ts'

const addresses = [1, 2, 3, 4, 5].map((host) => `10.0.0.${host}:9000`)
const teams = Array.from({ length: 2000 }, (_, index) => `team-${index}`)
const idle = (all: readonly string[]) => all.map(() => ({ calls: 0, silentMs: 0 }))
const firstOf = (team: string, all: readonly string[]) => all[replicasFor(team, all, idle(all))[0]!]!

test('teams are spread over the replicas', () => {
  const counts = addresses.map((address) => teams.filter((team) => firstOf(team, addresses) === address).length)
  for (const count of counts) expect(Math.abs(count - 400)).toBeLessThan(100)
})

test('a replica that goes leaves the teams of others where they are', () => {
  const [gone, ...left] = addresses
  for (const team of teams) {
    const before = firstOf(team, addresses)
    if (before !== gone) expect(firstOf(team, left)).toBe(before)
  }
})

test('a replica with many calls on their way, or that answers none, comes last, but not where all are so', () => {
  const [first, second] = replicasFor('demo', addresses, idle(addresses)) as [number, number]
  const order = (calls: number, silentMs = 0, others = 0) =>
    replicasFor(
      'demo',
      addresses,
      addresses.map((_, at) => ({ calls: at === first ? calls : others, silentMs })),
    )
  expect(order(63)[0]).toBe(first)
  expect(order(64)[0]).toBe(second)
  expect(order(64).at(-1)).toBe(first)
  expect(order(500, 0, 500)[0]).toBe(first)
  expect(order(0, 5000)[0]).toBe(first)
  expect(order(1, 5000)[0]).toBe(second)
  expect(order(1, 5000, 1)[0]).toBe(first)
})

const served: ServedPort[] = []
let network: WireNetwork | undefined

afterEach(async () => {
  network?.close()
  await Promise.all(served.splice(0).map((one) => one.close(0)))
})

/** Of each replica, unless a test says otherwise: its number. */
const answers: (() => { text: string } | Promise<{ text: string }>)[] = []

async function serveThree() {
  for (const [index, text] of ['0', '1', '2'].entries()) {
    answers[index] = () => ({ text })
    served.push(await serveProbe(handlers({ ask: () => answers[index]!(), look: () => ({ text }) })))
  }
  network = networkTo(
    served.map(({ port }) => port),
    { byTeam: ['probe'] },
  )
  const probe = network.client(ProbeService)
  // All are connected.
  const seen = new Set<string>()
  while (seen.size < 3) seen.add((await probe.look({}, call())).text)
  return probe
}

const of = (team: string) => call({ principal: { ...user, team } })

test('what changes something of a team goes to one replica, what reads to each in turn', async () => {
  const probe = await serveThree()
  const answered = async (team: string) => {
    const all = await Promise.all(Array.from({ length: 6 }, () => probe.ask({}, of(team))))
    return new Set(all.map(({ text }) => text))
  }
  const firsts: Set<string>[] = []
  for (const team of teams.slice(0, 30)) firsts.push(await answered(team))
  for (const one of firsts) expect(one.size).toBe(1)
  expect(new Set(firsts.flatMap((one) => [...one])).size).toBe(3)
  const read = await Promise.all(Array.from({ length: 6 }, () => probe.look({}, of('demo'))))
  expect(new Set(read.map(({ text }) => text)).size).toBe(3)
})

test("where a team's replica is away, its calls go to another one", async () => {
  const probe = await serveThree()
  const { text } = await probe.ask({}, of('demo'))
  await served[Number(text)]!.close(0)
  for (let count = 0; count < 6; count += 1) expect((await probe.ask({}, of('demo'))).text).not.toBe(text)
})

test("where a team's replica answers nothing, later calls go to another one", async () => {
  const probe = await serveThree()
  const silent = Number((await probe.ask({}, of('demo'))).text)
  answers[silent] = () => new Promise(() => undefined)
  const waiting = probe.ask({}, of('demo')).catch((error: unknown) => error)
  await until(async () => {
    const asked = probe.ask({}, { ...of('demo'), deadlineMs: Date.now() + 300 }).catch(() => undefined)
    const answer = await asked
    return answer !== undefined && answer.text !== `${silent}`
  })
  network!.close()
  await waiting
})
