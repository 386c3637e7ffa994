import { writeFile } from 'node:fs/promises'
import { Client, accessTokenOf } from '../client/client.ts'
import { Contract } from '../contract/contract.ts'
import { operationsOf } from '../client/document.ts'
import { Random } from '../system/random.ts'
import { endOnSignals, startSystem } from '../system/system.ts'
import { describeAttempt } from './attempt.ts'
import type { Attempt } from './attempt.ts'
import * as bodies from './body-faults.ts'
import * as caller from './caller-faults.ts'
import * as http from './http-faults.ts'
import * as json from './json-faults.ts'
import { notAimedAt } from './coverage.ts'
import { faultsOfReply } from './judge.ts'
import { readOptions } from './options.ts'
import type { MalformedOptions } from './options.ts'
import * as packages from './package-faults.ts'
import { Pulse } from './pulse.ts'
import * as raw from './raw-faults.ts'
import { Stage } from './scene.ts'
import type { Scene } from './scene.ts'
import { Sender } from './sender.ts'
import * as storage from './storage-faults.ts'
import * as tokens from './token-faults.ts'

type Maker = (scene: Scene, random: Random) => Attempt

/** How often each kind of fault comes, beside the others. */
const makers: readonly [Maker, number][] = [
  [json.wrongField, 280],
  [json.missingField, 30],
  [json.notAnObject, 30],
  [json.brokenJson, 90],
  [json.hostileJson, 70],
  [json.oddFields, 70],
  [json.wrongMedia, 50],
  [json.tooLarge, 3],
  [http.wrongQuery, 70],
  [http.oddQuery, 40],
  [http.oddPath, 70],
  [http.strayPath, 30],
  [http.wrongMethod, 40],
  [http.oddTeam, 30],
  [caller.wrongToken, 40],
  [tokens.wrongApiToken, 10],
  [tokens.wrongTokenForm, 20],
  [caller.oddHeaders, 25],
  [caller.oddPosition, 10],
  [caller.wrongWebhook, 30],
  [caller.oddWebhook, 20],
  [storage.wrongUpload, 40],
  [storage.oddUpload, 15],
  [storage.oddCondition, 25],
  [storage.wrongLink, 25],
  [packages.wrongPackages, 30],
  [packages.oddPackages, 10],
  [bodies.manyThings, 6],
  [bodies.manyThingsForNobody, 3],
  [raw.rawBytes, 30],
  [raw.brokenOff, 10],
]

const connections = 16

interface Tally {
  sent: number
  statuses: Record<number, number>
}

const options = readOptions(process.argv.slice(2))
endOnSignals()
if (options) await test(options)

async function test({ requests, seed, json: file }: MalformedOptions): Promise<void> {
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
  const stage = new Stage(client)
  const scene = await stage.build()
  const operations = await operationsOf(client.address.host)
  const inputs = operations.reduce((sum, operation) => sum + operation.inputs.length, 0)
  console.log(`at ${operations.length} operations with ${inputs} inputs`)
  const contract = await Contract.of(client.address.host)
  const sender = new Sender(client.address.host, connections)
  const before = await stage.inventory()
  const tallies: Record<string, Tally> = {}
  const violations = notAimedAt(operations).map((input) => `nothing aims at ${input}`)
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
      if (attempt.method === 'POST' && reply.status === 201) await stage.undo(attempt.path, reply.text)
    }
  }
  const pulse = new Pulse(client.address.host)
  await Promise.all(Array.from({ length: connections }, work))
  violations.push(...(await pulse.stop()))
  sender.close()
  violations.push(...(await aftermath(client, stage, before)))
  return { tallies, violations }
}

/** Nothing that is kept may look different, and the service answers as before. */
async function aftermath(client: Client, stage: Stage, before: string): Promise<string[]> {
  const withPlayground = await stage.inventory()
  const found = await stage.clear()
  const after = await stage.inventory()
  const lines = after.split('\n')
  for (const [index, line] of before.split('\n').entries()) {
    const allowed = expectedAfter(line)
    if (lines[index] !== undefined && !allowed.includes(lines[index]))
      found.push(`state changed: ${line.slice(0, 600)}\n      → ${lines[index].slice(0, 600)}`)
  }
  if (/polluted/.test(withPlayground)) found.push('a prototype was polluted')
  const ready = await fetch(`${client.address.host}/readyz`)
  if (ready.status !== 200) found.push(`/readyz answers ${ready.status} afterwards`)
  return found
}

/** A count of what the playground had one of is one less once it is cleared; everything else is the same. */
function expectedAfter(line: string): string[] {
  const count = /^(\/processes|\/executions|\/variables|\/modules|\/schedules) (\d+)$/.exec(line)
  return count ? [`${count[1]} ${Number(count[2]) - 1}`] : [line]
}
