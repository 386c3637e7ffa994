import { get, type IncomingMessage } from 'node:http'
import type { Lab } from '../lab.ts'
import { openOurs, oursAbout, type Ours } from '../sides/ours.ts'
import { goal, type Workload } from '../sides/side.ts'
import { total } from '../sides/usage.ts'
import { percentile, type Sample } from '../statistics.ts'

const slowReaders = 20
const sizesOf = (lab: Lab) =>
  lab.effort.smoke ? { streams: 50, changes: 5, runs: 20 } : { streams: 1000, changes: 40, runs: 300 }
/** Of the parameters of each run: what slow readers leave is many times what the sockets take. */
const parameterBytes = 20_000
const changeEveryMs = 250
const settleMs = 2000
const waitMs = 60_000

/** One stream of the team: what has come, by ids of what it is about, and when. */
class Reader {
  readonly #answer: IncomingMessage
  #rest = ''
  readonly seenAt: number[] = []
  gaps = 0

  private constructor(answer: IncomingMessage) {
    this.#answer = answer
    answer.setEncoding('utf8').on('data', (text: string) => this.#take(text))
    answer.on('error', () => undefined) // it is cut at the end
  }

  static open(ours: Ours, types: string): Promise<Reader> {
    const { promise, resolve, reject } = Promise.withResolvers<Reader>()
    const address = `${ours.url}/api/demo/rest/events?types=${types}`
    const asked = get(address, { headers: ours.headers, agent: false }, (answer) => {
      if (answer.statusCode === 200) resolve(new Reader(answer))
      else reject(new Error(`a stream was answered ${answer.statusCode}`))
    })
    asked.on('error', reject)
    return promise
  }

  pause(): void {
    this.#answer.pause()
  }

  resume(): void {
    this.#answer.resume()
  }

  close(): void {
    this.#answer.destroy()
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === 'event: gap') this.gaps += 1
      if (line.startsWith('data:') && line.includes('"updated"')) this.seenAt.push(performance.now())
    }
  }
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  const endsAt = performance.now() + waitMs
  while (!isSo()) {
    if (performance.now() > endsAt) throw new Error(`${what} within ${waitMs} ms: that is not so`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function measure(lab: Lab): Promise<Sample> {
  const { streams, changes, runs } = sizesOf(lab)
  const ours = await openOurs(lab, { TEAM_LIMITS: `streams=${streams + slowReaders}` })
  const readers: Reader[] = []
  try {
    const { id, execute } = await ours.process('changed', 'return 1')
    const held = async () => total(await ours.usage(), 'memoryMb')
    await pause(settleMs)
    const before = await held()
    for (let opened = 0; opened < streams; opened += 50)
      readers.push(...(await Promise.all(Array.from({ length: 50 }, () => Reader.open(ours, 'process')))))
    await pause(settleMs)
    const open = await held()
    const seen = await measureChanges(ours, id, readers, changes)
    const slow = await measureSlow(ours, execute, runs, held)
    return {
      streams,
      seenP50Ms: percentile(seen, 0.5),
      seenP95Ms: percentile(seen, 0.95),
      seenP99Ms: percentile(seen, 0.99),
      streamKb: Math.max(0, ((open - before) * 1024) / streams),
      ...slow,
    }
  } finally {
    for (const reader of readers) reader.close()
    await ours.close()
  }
}

/** How long after the call that makes it each reader has each change, in order. */
async function measureChanges(ours: Ours, id: string, readers: Reader[], changes: number): Promise<number[]> {
  const tookMs: number[] = []
  for (let change = 0; change < changes; change += 1) {
    const from = performance.now()
    await ours.call('PATCH', `/processes/${id}`, { description: `change ${change}` })
    const have = () => readers.every(({ seenAt, gaps }) => seenAt.length > change || gaps > 0)
    await until(have, 'every reader has every change')
    if (readers.some(({ gaps }) => gaps > 0)) throw new Error('a reader that takes what comes was told of a gap')
    tookMs.push(...readers.map(({ seenAt }) => seenAt[change]! - from))
    await pause(changeEveryMs)
  }
  return tookMs.toSorted((a, b) => a - b)
}

/** What readers that take nothing cost while runs go on, and that each is told of what it missed. */
async function measureSlow(ours: Ours, execute: string, runs: number, held: () => Promise<number>): Promise<Sample> {
  const slow = await Promise.all(Array.from({ length: slowReaders }, () => Reader.open(ours, 'execution')))
  try {
    for (const reader of slow) reader.pause()
    const before = await held()
    const body = JSON.stringify({ parameters: { text: 'x'.repeat(parameterBytes) } })
    const headers = { ...ours.headers, 'content-type': 'application/json' }
    for (let run = 0; run < runs; run += 1) {
      const answer = await fetch(execute, { method: 'POST', headers, body })
      if (answer.status !== 202) throw new Error(`a run was answered ${answer.status}`)
      await answer.body?.cancel()
    }
    await pause(settleMs)
    const slowMb = (await held()) - before
    for (const reader of slow) reader.resume()
    if (runs * parameterBytes > 4 * 2 ** 20)
      await until(() => slow.every(({ gaps }) => gaps > 0), 'each is told of its gap')
    return { slowMb, leftMb: (slowReaders * runs * 3 * parameterBytes) / 2 ** 20 }
  } finally {
    for (const reader of slow) reader.close()
  }
}

export const w17: Workload = {
  id: 'W17',
  title: '1,000 live streams of one team at one gateway: how soon each has a change, and 20 readers that take nothing',
  shown: { metric: 'seenP95Ms', unit: 'ms until a change is seen, p95', moreIsBetter: false },
  isLong: true,
  sides: [{ name: 'ours', kind: 'ours', about: oursAbout, measure }],
  goals: (median) => [
    goal('a change is seen within 500 ms (p95)', median('ours', 'seenP95Ms'), '<=', 500),
    goal('a stream holds at most 100 KiB', median('ours', 'streamKb'), '<=', 100),
    goal('20 readers that take nothing hold at most 200 MB', median('ours', 'slowMb'), '<=', 200),
  ],
}
