import { writeFile } from 'node:fs/promises'
import { Random } from '@automation/testing/random'
import { Client, accessTokenOf } from '../client/client.ts'
import { Contract } from '../contract/contract.ts'
import { randomSeed, readOptions, wholeNumber } from '@automation/testing/options'
import { endOnSignals, startSystem } from '../system/system.ts'
import * as http from './http-faults.ts'
import { describeAttempt, faultsOfReply, type Attempt } from './judge.ts'
import { Pulse } from './pulse.ts'
import { Scene } from './scene.ts'
import { Sender } from './sender.ts'
import * as storage from './storage-faults.ts'
import * as uploads from './upload-faults.ts'

type Maker = (scene: Scene, random: Random) => Attempt

/** How often each kind of fault comes, beside the others. */
const makers: readonly [Maker, number][] = [
  [http.rawBytes, 30],
  [http.brokenOff, 10],
  [http.manyThings, 6],
  [http.manyThingsForNobody, 3],
  [storage.wrongUpload, 40],
  [storage.oddUpload, 15],
  [storage.oddCondition, 25],
  [storage.wrongLink, 25],
  [uploads.wrongPart, 25],
  [uploads.wrongUploadInParts, 15],
]

const connections = 16

interface Tally {
  sent: number
  statuses: Record<number, number>
}

const help = `npm run test:malformed [-- OPTIONS]

Starts the system (or takes the one that E2E_BASE_URL names) and sends it what no HTTP client sends, large bodies of
many small things, and uploads, parts, downloads and links with faults. Each must be refused in the form that the interface
promises, change nothing and betray nothing.

  --requests N    how many (1000)
  --seed S        repeats the requests of a former run; printed at the start
  --json FILE     also writes the summary as JSON
  --help

Ends with 1 when an answer was wrong.
`

const options = readOptions(
  help,
  {
    requests: { type: 'string', default: '1000' },
    seed: { type: 'string', default: randomSeed },
    json: { type: 'string' },
  },
  ({ requests, seed, json }) => ({
    requests: wholeNumber(requests, 1),
    seed: wholeNumber(seed),
    json,
  }),
)
type Options = typeof options

endOnSignals()
await test(options)

async function test({ requests, seed, json: file }: Options): Promise<void> {
  console.log(`${requests} malformed requests, seed ${seed}`)
  const { client, stop } = await open()
  try {
    const { tallies, violations } = await attack(client, requests, seed)
    const summary = { seed, requests, violations: violations.length, faults: tallies }
    for (const [fault, { sent, statuses }] of Object.entries(tallies).toSorted(([a], [b]) => a.localeCompare(b)))
      console.log(`${fault.padEnd(24)} ${`${sent}`.padStart(5)}  ${JSON.stringify(statuses)}`)
    for (const violation of violations.slice(0, 40)) console.log(`WRONG ${violation}`)
    console.log(`${requests} requests, ${violations.length} wrong answers, seed ${seed}`)
    if (file) await writeFile(file, JSON.stringify({ ...summary, violations }, undefined, 2))
    if (violations.length > 0) process.exitCode = 1
  } finally {
    await stop()
  }
}

async function open(): Promise<{ client: Client; stop: () => Promise<void> }> {
  const { E2E_BASE_URL, E2E_TEAM = 'demo', E2E_API_TOKEN = '' } = process.env
  const system = E2E_BASE_URL ? undefined : await startSystem({ team: 'malformed' })
  const host = system?.host ?? E2E_BASE_URL?.replace(/\/+$/, '') ?? ''
  const [team, apiToken] = system ? [system.team, system.apiToken] : [E2E_TEAM, E2E_API_TOKEN]
  const client = new Client({ host, team, accessToken: await accessTokenOf(host, team, apiToken) })
  return { client, stop: async () => system?.stop() }
}

async function attack(client: Client, requests: number, seed: number) {
  const random = new Random(seed)
  const scene = await Scene.build(client)
  const contract = await Contract.of(client.address.host)
  const sender = new Sender(client.address.host, connections)
  const before = await scene.inventory()
  const tallies: Record<string, Tally> = {}
  const violations: string[] = []
  const weights = Object.fromEntries(makers.map(([, weight], index) => [`${index}`, weight]))
  let made = 0
  const started = performance.now()

  const work = async () => {
    while (made < requests) {
      made += 1
      if (made % 500 === 0)
        console.log(`  ${made} of ${requests} after ${Math.round((performance.now() - started) / 1000)} s`)
      const attempt = makers[Number(random.weighted(weights))]?.[0](scene, random)
      if (!attempt) throw new RangeError('no kind of fault was picked')
      const reply = await sender.send(attempt)
      const tally = (tallies[attempt.fault] ??= { sent: 0, statuses: {} })
      tally.sent += 1
      tally.statuses[reply.status] = (tally.statuses[reply.status] ?? 0) + 1
      for (const fault of faultsOfReply(attempt, reply, contract))
        violations.push(
          `${fault}\n      ${describeAttempt(attempt)}\n      → ${reply.status} ${reply.text.slice(0, 300)}`,
        )
    }
  }
  const pulse = new Pulse(client.address.host)
  await Promise.all(Array.from({ length: connections }, work))
  violations.push(...(await pulse.stop()))
  sender.close()
  const after = await scene.inventory()
  if (after !== before) violations.push(`state changed: ${before.slice(0, 2000)}\n      → ${after.slice(0, 2000)}`)
  violations.push(...(await scene.clear()))
  const ready = await fetch(`${client.address.host}/readyz`)
  if (ready.status !== 200) violations.push(`/readyz answers ${ready.status} afterwards`)
  return { tallies, violations }
}
