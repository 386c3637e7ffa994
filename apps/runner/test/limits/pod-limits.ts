// Makes the attacks on limits, forges frames and looks for what runs leave, in a runner pod, and prints what came of it:
// `LANGUAGE NUMBER`, those of one language, but for so many of them.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Language as Languages } from '@automation/contract/common/v1/language'
import { until } from '@automation/testing'
import { forged, onChannels } from '../isolation/forged-frames.ts'
import { environment, leaves, looks, opened } from '../isolation/left-by-runs.ts'
import { startInPod, type RunnerInPod } from '../isolation/pod-runner.ts'
import { mark, type Language } from './attack.ts'
import { leftOverFiles, leftOverProcesses } from './left-over.ts'
import { faultOf, made, next, settings } from './judged.ts'

/** What was tried; with what was not as it should be. Printed as a line of JSON each. */
export interface Tried {
  kind: 'limit' | 'channel' | 'before'
  language: Language
  name: string
  faults: string[]
}

const tmpDir = mkdtempSync(join(tmpdir(), 'limits-'))
const under = await startInPod({ ...settings, TMPDIR: tmpDir })
const specOf = (language: Language) => ({ language: language === 'python' ? Languages.PYTHON : Languages.JAVASCRIPT })
const lasts = onChannels.find(({ language }) => language === 'javascript')!.waits

const [, , , wanted, position] = process.argv
const all = [
  ...made.map(([name, language, attack]) => tryOf('limit', language, name, () => onLimits(language, attack))),
  ...onChannels.flatMap(({ language, source, closes }) => [
    ...forged.map(([name, bytes]) => tryOf('channel', language, name, () => onChannel(language, source(bytes), true))),
    tryOf('channel', language, 'closing the channel', () => onChannel(language, closes, false)),
  ]),
  ...onChannels.map(({ language }) => tryOf('before', language, 'the run before', () => afterAnother(language))),
].filter(({ language }) => language === wanted)

const isolation = (await under.runner.ready()).find(({ name }) => name === 'isolation details')?.detail ?? ''
tell({ isolation, count: all.length })
for (const { work, ...what } of all.slice(Number(position))) {
  const neighbour = under.replica.hand(lasts, { spec: { processId: 'p-2' } })
  const faults = await work().catch((error: unknown) => [String(error)])
  const { value, explanation } = await neighbour.ended
  if (value !== 'neighbour') faults.push(`the run beside it ended with ${explanation ?? JSON.stringify(value)}`)
  tell({ ...what, faults } satisfies Tried)
}
await under.runner.stop(1000)
process.stdout.write('', () => process.exit(0))

function tryOf(kind: Tried['kind'], language: Language, name: string, work: () => Promise<string[]>) {
  return { kind, language, name, work }
}

function tell(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}

function run(source: string, language: Language, timeoutMs = 60_000): ReturnType<RunnerInPod['replica']['run']> {
  return under.replica.run(source, { spec: specOf(language), run: { timeoutMs } })
}

async function onLimits(language: Language, attack: (typeof made)[number][2]): Promise<string[]> {
  const fault = faultOf(attack, await run(attack[language]!, language, attack.timeoutMs))
  await under.settled()
  const processes = () => leftOverProcesses(mark)
  await until(() => processes().length === 0, { what: `gone: ${processes().join()}` })
  const files = () => leftOverFiles(join(tmpDir, readdirSync(tmpDir)[0]!))
  await until(() => files().length === 0, { what: `gone: ${files().join()}` })
  const { value, explanation } = await run(next[language], language)
  const found = explanation ?? JSON.stringify(value)
  return [...(fault === undefined ? [] : [fault]), ...(found === '[]' ? [] : [`the next run: ${found}`])]
}

async function onChannel(language: Language, source: string, mayEndWell: boolean): Promise<string[]> {
  const { value, explanation } = await run(source, language, 3000)
  const isWell = value === undefined ? /\w+ \w+/.test(explanation ?? '') : mayEndWell && value === 'own'
  const after = await run('return 2', language)
  return [
    ...(isWell ? [] : [`it ended with ${explanation ?? JSON.stringify(value)}`]),
    ...(after.value === 2 ? [] : [`the next run: ${after.explanation}`]),
  ]
}

async function afterAnother(language: Language): Promise<string[]> {
  const trace = `mark-${randomBytes(12).toString('hex')}`
  await run(leaves[language](trace), language)
  const left = await run(looks[language](trace), language)
  const descriptors = await run(opened[language], language)
  const names = (await run(environment[language], language)).value as string[]
  return [
    ...(JSON.stringify(left.value) === '[[],[]]' ? [] : [`left: ${left.explanation ?? JSON.stringify(left.value)}`]),
    ...(JSON.stringify(descriptors.value) === '[]' ? [] : [`descriptors: ${JSON.stringify(descriptors.value)}`]),
    ...(names.includes('PATH') && !names.some((name) => /^(RUNNER_|KUBERNETES_)/.test(name))
      ? []
      : [`variables: ${names.join()}`]),
  ]
}
