// What `GET /usage` says of many runs, some of them killed, beside a ledger that is kept outside of the service: from what
// each run says of itself, as the kernel tells it there.
import { setTimeout as delay } from 'node:timers/promises'
import { accessTokenOf, Client } from '../client/client.ts'
import { terminalStatuses, type Execution, type Process } from '../client/records.ts'
import { randomSeed, readOptions, wholeNumber } from '@automation/testing/options'
import { endOnSignals, startSystem } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'

const atOnce = 10
const killEvery = 10
/**
 * By how much of the ledger usage may differ; and what a run may cost beyond what its code sees: that this is read, and its
 * answer.
 */
const share = 0.01
const ownCostS = 0.02
const settings = { freshProcess: true }

const help = `npm run test:usage -- [OPTIONS]

Starts the system, runs a process that works for some time on a processor and holds some memory, kills each tenth run when it
has worked and waits, and compares GET /usage with what the runs have said of themselves: their number exactly, megabyte-seconds within
${share * 100} per cent, seconds on processors within ${share * 100} per cent and ${ownCostS * 1000} ms a run, which it costs beyond what its code sees.

  --runs N          how many (default: 200)
  --ms N            how long each works on a processor, at least (default: 500)
  --language NAME   JAVASCRIPT, each in a child of its own, or PYTHON, which takes less for many (default: JAVASCRIPT)
  --help

Ends with 1 where they differ.
`

/** What a run says of itself: seconds on processors and MiB at most, since it began. */
interface Taken {
  cpuS: number
  mb: number
}

type Language = 'JAVASCRIPT' | 'PYTHON'

const javascript = `
const { readFileSync } = require('fs')
const { ms, kill } = svc.context.parameters
const since = process.cpuUsage()
const held = Buffer.alloc(40 * 1024 * 1024, 1)
const taken = () => {
  const { user, system } = process.cpuUsage(since)
  const peak = Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024
  return { cpuS: (user + system) / 1e6, mb: peak, held: held.length }
}
while (taken().cpuS * 1000 < ms) for (let i = 0; i < 200_000; i += 1) Math.sqrt(i)
if (kill) { console.log(JSON.stringify(taken())); await new Promise((resolve) => setTimeout(resolve, 600_000)) }
return taken()`

const python = `
import json, time
ms, kill = svc.context.parameters["ms"], svc.context.parameters["kill"]
held = b"1" * (40 * 1024 * 1024)
def taken():
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    return {"cpuS": time.process_time(), "mb": peak / 1024, "held": len(held)}
while taken()["cpuS"] * 1000 < ms:
    for i in range(20_000): i * i
if kill:
    print(json.dumps(taken()), flush=True)
    time.sleep(600)
return taken()`

const sources: Record<Language, string> = { JAVASCRIPT: javascript, PYTHON: python }

endOnSignals()
const options = readOptions(
  help,
  {
    runs: { type: 'string', default: '200' },
    ms: { type: 'string', default: '500' },
    language: { type: 'string', default: 'JAVASCRIPT' },
  },
  ({ runs, ms, language }) =>
    language === 'JAVASCRIPT' || language === 'PYTHON'
      ? { runs: wholeNumber(runs, 1), ms: wholeNumber(ms, 1), language: language as Language }
      : undefined,
)
await test(options)

async function test({ runs, ms, language }: { runs: number; ms: number; language: Language }): Promise<void> {
  const system = await startSystem({ team: `usage-${randomSeed}`, shape: 'embedded' })
  try {
    const accessToken = await accessTokenOf(system.host, system.team, system.apiToken)
    const client = new Client({ host: system.host, team: system.team, accessToken })
    const made = await client.post<Process>('/processes', {
      name: 'worker',
      programmingLanguage: language,
      sourceCode: sources[language],
    })
    const ledger = await keepLedger(client, made.body.id, { runs, ms })
    compare(ledger, await readUsage(client, made.body.id, runs), runs)
  } finally {
    await system.stop()
  }
}

interface Ledger {
  cpuS: number
  mbS: number
  kills: number
}

/** Runs them, some at once; gives what they have taken by their own words and the times of their records. */
async function keepLedger(client: Client, id: string, { runs, ms }: { runs: number; ms: number }): Promise<Ledger> {
  const ledger = { cpuS: 0, mbS: 0, kills: 0 }
  let next = 0
  const work = async () => {
    while (next < runs) {
      const kill = next % killEvery === killEvery - 1
      next += 1
      const { execution, taken } = await (kill ? killOne(client, id, ms) : finishOne(client, id, ms))
      ledger.cpuS += taken.cpuS
      const { startedAt = '', endedAt = '' } = execution as Execution & { startedAt?: string; endedAt?: string }
      ledger.mbS += (taken.mb * (Date.parse(endedAt) - Date.parse(startedAt))) / 1000
      ledger.kills += Number(kill)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return ledger
}

/** A run that ends by itself, and what it returns. */
async function finishOne(client: Client, id: string, ms: number) {
  const parameters = { ms, kill: false }
  const answer = await client.post<Taken>(`/processes/${id}/execute-sync`, { parameters, settings })
  if (answer.status !== 203) throw new Error(`a run was answered ${answer.status} ${answer.text}`)
  const at = `/executions/${answer.headers.get('svc-execution-id')}`
  const read = async () => {
    const { status, body } = await client.get<Execution>(at)
    return status === 200 && body
  }
  return { execution: await waitUntil('its record', read, { timeoutMs: 60_000 }), taken: answer.body }
}

/** A run that is killed once it has worked, and what it has logged then: it takes no more. */
async function killOne(client: Client, id: string, ms: number) {
  const parameters = { ms, kill: true }
  const started = await client.post<{ executionId: string }>(`/processes/${id}/execute`, { parameters, settings })
  if (started.status !== 202) throw new Error(`a run was not started: ${started.status} ${started.text}`)
  const at = `/executions/${started.body.executionId}`
  const lines = async () => {
    const { status, body } = await client.get<{ data: { message: string }[] }>(`${at}/logs`, {
      limit: 1000,
      level: 'INFO',
    })
    // A machine that does much else may have no answer in time.
    return status === 200 ? body.data : []
  }
  await waitUntil('the run has worked', async () => (await lines()).length > 0, { timeoutMs: 60_000, everyMs: 20 })
  await waitUntil('the kill', async () => (await client.put(`${at}/kill`)).status === 202, { timeoutMs: 60_000 })
  const ended = async () => {
    const { status, body } = await client.get<Execution>(at)
    return status === 200 && terminalStatuses.includes(body.status) ? body : undefined
  }
  const execution = await waitUntil('the run ends', ended, { timeoutMs: 120_000, everyMs: 20 })
  if (execution.status !== 'KILLED') throw new Error(`${at} is ${execution.status}`)
  const last = await waitUntil('its lines', async () => (await lines()).at(-1), { timeoutMs: 60_000 })
  return { execution, taken: JSON.parse(last.message) as Taken }
}

interface Usage {
  items: { key: string; runs: number; cpuSeconds: number; memoryMbSeconds: number }[]
}

/** Once all are counted, and nothing is added any more. */
async function readUsage(client: Client, id: string, runs: number) {
  let before = ''
  return waitUntil(
    'usage has all runs',
    async () => {
      const { body, text } = await client.get<Usage>('/usage', { by: 'process' })
      const item = body.items.find(({ key }) => key === id)
      const isStill = text === before
      before = text
      await delay(3000)
      return item !== undefined && item.runs >= runs && isStill ? item : undefined
    },
    { timeoutMs: 120_000 },
  )
}

function compare(ledger: Ledger, usage: Usage['items'][number], runs: number): void {
  const rows: [what: string, ledger: number, usage: number, most: number][] = [
    ['runs', runs, usage.runs, 0],
    ['seconds on processors', ledger.cpuS, usage.cpuSeconds, ledger.cpuS * share + runs * ownCostS],
    ['megabyte-seconds', ledger.mbS, usage.memoryMbSeconds, ledger.mbS * share],
  ]
  console.log(`${runs} runs, ${ledger.kills} of them killed`)
  for (const [what, outside, inside, most] of rows) {
    const isWithin = Math.abs(outside - inside) <= most
    const more = ((inside / outside - 1) * 100).toFixed(2)
    console.log(
      `${what.padEnd(22)} ledger ${outside.toFixed(2)}  usage ${inside.toFixed(2)}  ${more} %  ${isWithin ? 'ok' : 'DIFFERS'}`,
    )
    if (!isWithin) process.exitCode = 1
  }
}
