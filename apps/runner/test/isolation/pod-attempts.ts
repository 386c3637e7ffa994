// Makes the attempts to get out of the isolation level `pod`, and those without isolation as a control, and prints what they came to.
import { randomBytes } from 'node:crypto'
import { Language as RunLanguage } from '@automation/contract/common/v1/language'
import { hasControl, sourceOf, type Attempt, type Found, type Language } from './attempt.ts'
import { attempts } from './attempts.ts'
import { openProbe } from './escape-probe.ts'
import { attemptsOnRuns } from './on-runs.ts'
import { startInPod, type RunnerInPod } from './pod-runner.ts'
import { startVictim } from './victims.ts'

export interface PodReport {
  /** As the runner describes it when it chooses by itself. */
  isolation: string
  results: { level: 'pod' | 'none'; language: Language; name: string; got: boolean; how: string }[]
}

const languages: Language[] = ['javascript', 'python']
const inSlices = 3
const { probe, remove } = await openProbe()
const report: PodReport = { isolation: '', results: [] }
for (const level of ['pod', 'none'] as const) {
  const under = await startInPod({
    RUNNER_CLOSED_PORTS: probe.servicePorts.join(),
    ISOLATION_MANY_TEAMS: 'true',
    ...(level === 'none' && { ISOLATION: 'none' }),
  })
  if (level === 'pod')
    report.isolation = (await under.runner.ready()).find(({ name }) => name === 'isolation details')?.detail ?? ''
  for (const language of languages) {
    const fitting = attempts.filter((each) =>
      level === 'pod' ? each.refusedBy === 'every level' : hasControl(each, probe),
    )
    for (let at = 0; at < inSlices; at++)
      await make(
        under,
        level,
        language,
        fitting.filter((_each, index) => index % inSlices === at),
        probe,
      )
    await onAnotherRun(under, level, language)
  }
  await under.runner.stop(1000)
}
remove()
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0))

/** On the things of another run of the same team, the only one that a pod serves. */
async function onAnotherRun(under: RunnerInPod, level: 'pod' | 'none', language: Language): Promise<void> {
  const mark = `mark-${randomBytes(12).toString('hex')}`
  const fitting = attemptsOnRuns.filter((each) => level === 'none' || each.refusedBy === 'every level')
  const { end, ...victim } = await startVictim(under, mark, 'demo')
  await make(under, level, language, fitting, { ...victim, mark })
  end()
}

async function make(
  { replica }: RunnerInPod,
  level: 'pod' | 'none',
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
    report.results.push({ level, language, name, ...found })
}
