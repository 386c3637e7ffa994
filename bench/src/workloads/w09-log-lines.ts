import { spawn } from 'node:child_process'
import { once } from 'node:events'
import pg from 'pg'
import type { Lab } from '../lab.ts'
import { floorAbout } from '../sides/floor.ts'
import { openOurs, oursAbout, type Ours } from '../sides/ours.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import { percentile, type Sample } from '../statistics.ts'

const linesOf = (lab: Lab) => (lab.effort.smoke ? 5000 : 100_000)
const printing = (lines: number) =>
  `for (let n = 0; n < ${lines}; n += 1) console.log('line ' + n + ' of a run that has a lot to say')`

const settings = { LOG_MAX_LINES: '200000', LOG_MAX_BYTES: '50000000', SYNC_WAIT_MAX_MS: '120000' }

async function measureOurs(lab: Lab): Promise<Sample> {
  const lines = linesOf(lab)
  const ours = await openOurs(lab, settings)
  try {
    await ours.process('chatty', printing(lines))
    await run(ours)
    const execution = await run(ours)
    const runMs = spanMs(execution)
    await verify(ours, execution.id, lines)
    const pagesMs: number[] = []
    for (let index = 0; index < 60; index += 1) {
      const startedAt = performance.now()
      await ours.call('GET', `/executions/${execution.id}/logs?limit=100&page=${(index * 7919) % (lines / 100)}`)
      if (index >= 10) pagesMs.push(performance.now() - startedAt)
    }
    pagesMs.sort((a, b) => a - b)
    return {
      runMs,
      linesPerSecond: lines / (runMs / 1000),
      pageP50Ms: percentile(pagesMs, 0.5),
      pageP99Ms: percentile(pagesMs, 0.99),
    }
  } finally {
    await ours.close()
  }
}

interface Execution {
  id: string
  status: string
  timeline: { events: { status: string; timestamp: string }[] }
}

async function run(ours: Ours): Promise<Execution> {
  await ours.call('POST', '/processes/chatty/execute-sync', {})
  const { data } = await ours.call<{ data: Execution[] }>('GET', '/executions?limit=1')
  const newest = data[0]
  if (newest?.status !== 'FINISHED') throw new Error(`the run that prints is ${newest?.status}`)
  return newest
}

function spanMs({ timeline }: Execution): number {
  const at = (status: string) =>
    new Date(timeline.events.find((event) => event.status === status)?.timestamp ?? NaN).getTime()
  return at('FINISHED') - at('RUNNING')
}

/** The last page is full and ends with the last line. */
async function verify(ours: Ours, id: string, lines: number): Promise<void> {
  const path = `/executions/${id}/logs?limit=1000&page=${lines / 1000 - 1}`
  const page = await ours.call<{ hasNextPage: boolean; data: { message: string }[] }>('GET', path)
  const last = page.data.at(-1)?.message
  if (page.hasNextPage || page.data.length !== 1000 || !last?.startsWith(`line ${lines - 1} of`))
    throw new Error(`the logs end with ${page.data.length} lines on the last page, the last one: ${last}`)
}

/** The same loop in plain node, its output read through a pipe and thrown away. */
async function measurePlain(lab: Lab): Promise<Sample> {
  const lines = linesOf(lab)
  const timed = `process.send(String(process.hrtime.bigint()));${printing(lines)}`
  const child = spawn(process.execPath, ['-e', timed], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  let newlines = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 10) newlines += 1
  })
  const [[startedAtNs]] = await Promise.all([once(child, 'message') as Promise<[string]>, once(child, 'close')])
  const runMs = Number(process.hrtime.bigint() - BigInt(startedAtNs)) / 1e6
  if (newlines !== lines) throw new Error(`plain node printed ${newlines} of ${lines} lines`)
  return { runMs, linesPerSecond: lines / (runMs / 1000) }
}

/** The same lines by multi-row inserts of 1,000. */
async function measureFloor(lab: Lab): Promise<Sample> {
  const lines = linesOf(lab)
  const client = new pg.Client({ connectionString: await lab.database() })
  await client.connect()
  try {
    await client.query('CREATE TABLE lines (execution int, number int, message text, PRIMARY KEY (execution, number))')
    const insert = async (execution: number) => {
      for (let from = 0; from < lines; from += 1000) {
        const numbers = Array.from({ length: 1000 }, (_, index) => from + index)
        const messages = numbers.map((number) => `line ${number} of a run that has a lot to say`)
        const text = `INSERT INTO lines SELECT $1, * FROM unnest($2::int[], $3::text[])`
        await client.query({ name: 'lines', text, values: [execution, numbers, messages] })
      }
    }
    await insert(0)
    const startedAt = performance.now()
    await insert(1)
    const runMs = performance.now() - startedAt
    return { runMs, linesPerSecond: lines / (runMs / 1000) }
  } finally {
    await client.end()
  }
}

export const w9: Workload = {
  id: 'W9',
  title: '100,000 log lines in one run: from RUNNING to FINISHED with all of them kept, and reading a page of 100',
  shown: { metric: 'linesPerSecond', unit: 'lines/s', moreIsBetter: true },
  sides: [
    {
      name: 'floor',
      kind: 'floor',
      about: { ...floorAbout, software: 'multi-row insert of 1,000 lines at a time', isolation: 'nothing is run' },
      measure: measureFloor,
    },
    { name: 'ours', kind: 'ours', about: oursAbout, measure: measureOurs },
    {
      name: 'plainNode',
      kind: 'floor',
      about: { software: 'node, output read from a pipe and thrown away', isolation: 'none', durability: 'none' },
      measure: measurePlain,
    },
  ],
  goals: (median) => [
    goal(
      'the run takes at most 1.2 of plain node',
      median('ours', 'runMs'),
      '<=',
      times(1.2, median('plainNode', 'runMs')),
    ),
    goal('a page of 100 lines at most 20 ms (p99)', median('ours', 'pageP99Ms'), '<=', 20),
  ],
}
