/*
 * Many runs of one process in one runner, for its memory: `node apps/runner/test/soak.ts [runs]`. Tells now and then what
 * the runner and the children hold, and fails when what the runner keeps or a child holds grows. What the runner's process
 * holds beyond that is garbage that V8 has not wanted to collect yet: it comes to rest at some 240 MB.
 */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startRunner } from './runner-under-test.ts'

const runs = Number(process.argv[2] ?? 100_000)
const atOnce = 8
const growthMaxMb = 30
const keptGrowthMaxMb = 6
const source = `
  const { EventEmitter } = require('events')
  globalThis.leaked = new Array(100).fill(svc.context.parameters)
  process.env.LEAKED = 'x'.repeat(100)
  setTimeout(() => {}, 60000)
  new EventEmitter().on('a', () => leaked)
  console.log('run', svc.env.SECRET, leaked.length)
  return { pid: process.pid, rss: process.memoryUsage.rss() }`
const spec = { variables: [{ key: 'SECRET', value: 'hush-hush-hush', isSensitive: true }] }

const under = await startRunner({ RUNNER_CHILD_MAX_AGE_MS: '3600000', RUNNER_CHILD_MAX_RUNS: '1000000' })
const childrenMb = new Map<number, number>()
const startedAt = performance.now()
let first: { kept: number; child: number } | undefined
let done = 0
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function worker(): Promise<void> {
  while (done < runs) {
    done += 1
    const own = done
    const { value, explanation } = await under.replica.run(source, { spec })
    if (explanation !== undefined) throw new Error(explanation)
    const { pid, rss } = value as { pid: number; rss: number }
    childrenMb.set(pid, Math.round(rss / 2 ** 20))
    under.replica.forget()
    if (own === runs / 10 || own === runs / 2 || own === runs) tell(own)
  }
}

function tell(count: number): void {
  const holdsMb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / 1024
  collect()
  const { heapUsed, external } = process.memoryUsage()
  const now = { kept: (heapUsed + external) / 2 ** 20, child: Math.max(...childrenMb.values()) }
  const seconds = (performance.now() - startedAt) / 1000
  console.log(
    `${count} runs: runner holds ${holdsMb.toFixed(0)} MB and keeps ${now.kept.toFixed(1)} MB, ${childrenMb.size} children, the largest ${now.child} MB, ${seconds.toFixed(0)} s`,
  )
  first ??= now
  if (now.kept - first.kept > keptGrowthMaxMb || now.child - first.child > growthMaxMb) {
    console.error('memory grows')
    process.exitCode = 1
  }
}

await Promise.all(Array.from({ length: atOnce }, worker))
await under.stop()
