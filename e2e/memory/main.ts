// Memory after load: what the system holds an idle minute after runs that took all they could, beside its level after the
// first run of each language.
import { setTimeout as delay } from 'node:timers/promises'
import { readFileSync } from 'node:fs'
import { accessTokenOf, Client } from '../client/client.ts'
import { terminalStatuses, type Execution, type Process } from '../client/records.ts'
import { readOptions } from '@automation/testing/options'
import { endOnSignals, startSystem, type System } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { resourceEaters, type ResourceEater } from './resource-eaters.ts'

const mostTimes = 1.3
const atOnce = 3
const settledMs = 3000
const idleMs = 70_000
const shownMb = 5

const help = `npm run test:memory

Starts the system, runs one process of each language and then ${resourceEaters.length} that take all they can, and compares what the system
holds an idle minute later with what it held after the first two. It prints the largest processes at each look.

  --help

Ends with 1 beyond ${mostTimes} times.
`

endOnSignals()
readOptions(help, {}, () => ({}))
await test()

async function test(): Promise<void> {
  const system = await startSystem({ team: 'memory', shape: 'embedded' })
  try {
    await measure(system)
  } finally {
    await system.stop()
  }
}

async function measure(of: System): Promise<void> {
  const accessToken = await accessTokenOf(of.host, of.team, of.apiToken)
  const client = new Client({ host: of.host, team: of.team, accessToken })
  const first = { name: 'first', sourceCode: 'return 1' }
  for (const programmingLanguage of ['JAVASCRIPT', 'PYTHON'] as const)
    await run(client, { ...first, programmingLanguage })
  await delay(settledMs)
  const before = tell(of, 'after the first run of each language')
  for (let at = 0; at < resourceEaters.length; at += atOnce) {
    const some = resourceEaters.slice(at, at + atOnce)
    const ends = await Promise.all(some.map((eater) => run(client, eater)))
    for (const [which, { name }] of some.entries()) console.log(`${name}: ${ends[which]}`)
  }
  tell(of, 'right after')
  await delay(idleMs)
  const times = tell(of, 'after an idle minute') / before
  console.log(`${times.toFixed(2)} times the level after the first runs, at most ${mostTimes}`)
  if (times > mostTimes) process.exitCode = 1
}

async function run(client: Client, { parameters = {}, ...fields }: ResourceEater): Promise<string> {
  const { body: made } = await client.post<Process>('/processes', fields)
  const started = await client.post<{ executionId: string }>(`/processes/${made.id}/execute`, { parameters })
  if (started.status !== 202) throw new Error(`${fields.name} was not started: ${started.status} ${started.text}`)
  const ended = async () => {
    const { body: execution } = await client.get<Execution>(`/executions/${started.body.executionId}`)
    return terminalStatuses.includes(execution.status) ? execution.status : undefined
  }
  return waitUntil(`${fields.name} ends`, ended, { timeoutMs: 120_000 })
}

/** Says what is held now, in all and by the larger processes; gives the sum in MB. */
function tell(of: System, when: string): number {
  const all = memoryOf(of)
  const sum = all.reduce((total, { mb }) => total + mb, 0)
  console.log(`== ${when}: ${sum.toFixed(0)} MB, ${all.length} processes`)
  for (const { pid, command, mb } of all.filter((each) => each.mb >= shownMb))
    console.log(`${mb.toFixed(1).padStart(8)} MB  ${pid}  ${command.slice(0, 90)}`)
  return sum
}

/** What a process holds, in MB: its proportional share of what it has in common with others (PSS). */
interface HeldMemory {
  pid: number
  command: string
  mb: number
}

/** The processes of a system that live now, the largest first. */
function memoryOf(system: System): HeldMemory[] {
  const all = system.processes().map(({ pid, command }) => ({ pid, command, mb: pssMb(pid) }))
  return all.toSorted((a, b) => b.mb - a.mb)
}

function pssMb(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0 // it ended while it was looked at
  }
}
