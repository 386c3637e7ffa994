// Makes the attempts to get out of the wall `pod`, and those without a wall as a control, and prints what they came to.
import { randomBytes } from 'node:crypto'
import { Language as RunLanguage } from '@automation/contract/common/v1/language'
import { InProcessNetwork } from '@automation/rpc'
import { createLogger, createMetrics, Environment } from '@automation/service'
import { until } from '@automation/testing'
import { createRunner, readRunnerConfig } from '../../src/service.ts'
import type { RunnerUnderTest } from '../runner-under-test.ts'
import { ScriptedReplica } from '../scripted-replica.ts'
import { hasControl, sourceOf, type Attempt, type Found, type Language } from './attempt.ts'
import { attempts } from './attempts.ts'
import { layBait } from './bait.ts'
import { attemptsOnRuns } from './on-runs.ts'
import { startVictim } from './victims.ts'

export interface PodReport {
  /** As the runner describes it when it chooses by itself. */
  wall: string
  results: { wall: 'pod' | 'none'; language: Language; name: string; got: boolean; how: string }[]
}

const languages: Language[] = ['javascript', 'python']
const inSlices = 3
const { bait, remove } = await layBait()
const report: PodReport = { wall: '', results: [] }
for (const wall of ['pod', 'none'] as const) {
  const under = await start(wall === 'pod' ? {} : { WALL: 'none' })
  if (wall === 'pod') report.wall = (await under.runner.ready()).find(({ name }) => name === 'wall')?.detail ?? ''
  for (const language of languages) {
    const fitting = attempts.filter((each) =>
      wall === 'pod' ? each.refusedBy === 'every wall' : hasControl(each, bait),
    )
    for (let at = 0; at < inSlices; at++)
      await make(
        under,
        wall,
        language,
        fitting.filter((_each, place) => place % inSlices === at),
        bait,
      )
    await onAnotherRun(under, wall, language)
  }
  await under.runner.stop(1000)
}
remove()
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0))

/** On the things of another run of the same team, the only one that a pod serves. */
async function onAnotherRun(under: RunnerUnderTest, wall: 'pod' | 'none', language: Language): Promise<void> {
  const mark = `mark-${randomBytes(12).toString('hex')}`
  const fitting = attemptsOnRuns.filter((each) => wall === 'none' || each.refusedBy === 'every wall')
  const { end, ...victim } = await startVictim(under, mark, 'demo')
  await make(under, wall, language, fitting, { ...victim, mark })
  end()
}

async function make(
  { replica }: RunnerUnderTest,
  wall: 'pod' | 'none',
  language: Language,
  made: Attempt[],
  with_: unknown,
): Promise<void> {
  const spec = { language: language === 'python' ? RunLanguage.PYTHON : RunLanguage.JAVASCRIPT }
  const { value, explanation } = await replica.run(sourceOf(language, made, with_), {
    spec,
    run: { timeoutMs: 110_000 },
  })
  if (value === undefined) throw new Error(`the attempts broke the run: ${explanation}`)
  for (const [name, found] of Object.entries(value as Record<string, Found>))
    report.results.push({ wall, language, name, ...found })
}

async function start(settings: Record<string, string>): Promise<RunnerUnderTest> {
  const replica = new ScriptedReplica()
  const own = { RUNNER_NAME: 'test', RUNNER_CLOSED_PORTS: bait.servicePorts.join(), WALL_NONE_MANY_TEAMS: 'true' }
  const env = new Environment({ ...process.env, ...own, ...settings })
  const network = new InProcessNetwork()
  network.add(replica.services)
  const logger = createLogger({ service: 'runner', level: 'warn' })
  const runner = createRunner(readRunnerConfig(env), { neighbours: network, logger, metrics: createMetrics() })
  env.check()
  await runner.start()
  await until(() => replica.isConnected, { what: 'the runner lends places' })
  return { runner, replica } as RunnerUnderTest
}
