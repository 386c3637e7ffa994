import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Language } from '@automation/contract/common/v1/language'
import { readOptions, wholeNumber } from '@automation/testing/options'
import { startRunnerWith } from './runner-under-test.ts'

const help = `npm run test:soak -- [--runs N] [--language LANGUAGE]

Many runs of one process in one runner, for its memory. Tells now and then what the runner and the children hold, and
fails when what the runner keeps or a child holds grows. What the runner's process holds beyond that is garbage that V8
has not wanted to collect yet: it comes to rest at some 240 MB.

  --runs N             how many (100000)
  --language LANGUAGE  javascript (default) or python
  --help               this text
`
const sources: Record<string, string> = {
  javascript: `
    const { EventEmitter } = require('events')
    globalThis.leaked = new Array(100).fill(svc.context.parameters)
    process.env.LEAKED = 'x'.repeat(100)
    setTimeout(() => {}, 60000)
    new EventEmitter().on('a', () => leaked)
    console.log('run', svc.env.SECRET, leaked.length)
    return { pid: process.pid, rss: process.memoryUsage.rss() }`,
  // Each is a fork, which holds what its parent held.
  python: `
import os, sys, threading
sys.leaked = [svc.context.parameters] * 100
os.environ["LEAKED"] = "x" * 100
threading.Timer(60, print).start()
print("run", svc.env.SECRET, len(sys.leaked))
with open("/proc/self/statm") as statm:
    return {"pid": os.getppid(), "rss": int(statm.read().split()[1]) * 4096}`,
}
const { runs, language, source } = readOptions(
  help,
  { runs: { type: 'string', default: '100000' }, language: { type: 'string', default: 'javascript' } },
  ({ runs, language }) => {
    const source = sources[language]
    return source === undefined ? undefined : { runs: wholeNumber(runs, 10), language, source }
  },
)
const atOnce = 8
const growthMaxMb = 30
const keptGrowthMaxMb = 6
const spec = {
  language: language === 'python' ? Language.PYTHON : Language.JAVASCRIPT,
  variables: [{ key: 'SECRET', value: 'hush-hush-hush', isSensitive: true }],
}

const under = await startRunnerWith({ children: { maxAgeMs: 3_600_000, maxRuns: 1_000_000 } })
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
    const { value, explanation } = await under.replica.run(source!, { spec })
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
