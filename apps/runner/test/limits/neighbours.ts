import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Attack, Language } from './attack.ts'
import { attacks } from './attacks.ts'
import { startRunner, type RunnerUnderTest } from '../runner-under-test.ts'

/*
 * What a team feels of another team's attacks in the same runner: it runs a no-op each 20 ms, before and during each.
 * By hand: `node apps/runner/test/limits/neighbours.ts --wall namespaces --seconds 4 --only PATTERN`.
 */

const everyMs = 20
const { values } = parseArgs({
  options: {
    wall: { type: 'string', default: 'namespaces' },
    network: { type: 'string', default: 'host' },
    seconds: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
  },
})
const seconds = Number(values.seconds)
// JavaScript and Python, as the contract numbers them.
const numberOf: Record<Language, number> = { javascript: 1, python: 2 }
const noOp: Record<Language, string> = { javascript: 'return 1', python: 'return 1' }

function run(under: RunnerUnderTest, team: string, language: Language, source: string, timeoutMs: number) {
  const spec = { team, processId: `${team}-${language}`, language: numberOf[language] }
  return under.replica.run(source, { spec, run: { timeoutMs } })
}

/** Times of no-ops of the neighbour, in ms, for so long; each begins at its time, whether or not others have ended. */
async function timesOf(under: RunnerUnderTest, language: Language, ms: number): Promise<number[]> {
  const times: number[] = []
  const open: Promise<void>[] = []
  const since = performance.now()
  for (let n = 0; performance.now() - since < ms; n += 1) {
    await sleep(Math.max(0, since + n * everyMs - performance.now()))
    const began = since + n * everyMs
    open.push(
      run(under, 'neighbour', language, noOp[language], 30_000).then(({ explanation }) => {
        times.push(explanation === undefined ? performance.now() - began : Infinity)
      }),
    )
  }
  await Promise.all(open)
  return times.toSorted((a, b) => a - b)
}

/** Attacks, one after the other, until told to stop. */
function attackOver(under: RunnerUnderTest, { timeoutMs = 3000, ...attack }: Attack, language: Language) {
  let isOver = false
  let count = 0
  const done = (async () => {
    while (!isOver) {
      const time = Math.max(3000, Math.min(timeoutMs, 5000))
      await run(under, 'attacker', language, attack[language]!, time)
      count += 1
    }
  })()
  return { stop: () => ((isOver = true), done), count: () => count }
}

const p = (times: number[], share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0

const tmpDir = mkdtempSync(join(tmpdir(), 'neighbours-'))
const under = await startRunner({
  WALL: values.wall,
  WALL_NETWORK: values.network,
  WALL_NONE_MANY_TEAMS: 'true',
  RUNNER_TMP_DIR: tmpDir,
})
await timesOf(under, 'javascript', 1000)
await timesOf(under, 'python', 1000)
console.log('attack'.padEnd(62), 'attacks   before p50/p95    during p50/p95/p99      ratio')
for (const attack of attacks.filter(({ name }) => name.includes(values.only))) {
  for (const language of ['javascript', 'python'] as const) {
    if (attack[language] === undefined) continue
    const before = await timesOf(under, 'javascript', 1500)
    const { stop, count } = attackOver(under, attack, language)
    const during = await timesOf(under, 'javascript', seconds * 1000)
    await stop()
    await under.settled()
    const ratio = p(during, 0.95) / p(before, 0.95)
    const [b50, b95, d50, d95, d99] = [
      p(before, 0.5),
      p(before, 0.95),
      p(during, 0.5),
      p(during, 0.95),
      p(during, 0.99),
    ]
    console.log(
      `${attack.name} (${language})`.padEnd(62),
      String(count()).padStart(7),
      `${b50.toFixed(1)} / ${b95.toFixed(1)}`.padStart(16),
      `${d50.toFixed(1)} / ${d95.toFixed(1)} / ${d99.toFixed(1)}`.padStart(22),
      ratio.toFixed(2).padStart(8),
      ratio >= 2 ? '!' : '',
    )
  }
}
await under.stop()
rmSync(tmpDir, { recursive: true, force: true })
process.exit(0)
