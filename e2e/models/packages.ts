import * as fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import type { Answer } from '../client/client.ts'
import type { Language, Manifest, Process } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { agree, expectAnswer, wordOf } from './agree.ts'
import { plainSteps, steps, type Machine, type Real } from './machine.ts'

type Dependencies = Record<string, string>

/** What is installed, and what is to come. */
interface Stage {
  installed: Dependencies
  next: { status: 'PENDING' | 'INSTALLING' | 'FAILED'; wanted: Dependencies } | undefined
}

interface OnPackages extends Real {
  path: string
  /** Finds out which packages are there. */
  finderId: string
}

/** What the registry of the test has; each is a package of this text in version 1.2.3. */
export const offered = {
  npm: { one: 'module.exports = 1', two: 'module.exports = 2' },
  pypi: { one: 'value = 1\n', two: 'value = 2\n' },
}
const names = Object.keys(offered.npm)
const withinMs = 60_000
const underWay = '400 installation_under_way'
const nothing = '400 nothing_staged'

const wanted = fc.constantFrom<Dependencies>(
  {},
  { one: '1.2.3' },
  { two: '1.2.3' },
  { one: '1.2.3', two: '1.2.3' },
  { absent: '1.0.0' },
  { one: '9.9.9' },
)

/** Whether the registry has them all. */
const isThere = (wanted: Dependencies) =>
  Object.entries(wanted).every(([name, version]) => names.includes(name) && version === '1.2.3')

/** What becomes of an installation that is under way. */
function finish(stage: Stage): void {
  if (stage.next?.status !== 'INSTALLING') return
  const { wanted } = stage.next
  if (!isThere(wanted)) stage.next = { status: 'FAILED', wanted }
  else Object.assign(stage, { installed: wanted, next: undefined })
}

/** An installation that was under way is over where the system does not say that it goes on. */
function learn(stage: Stage, answer: Answer): void {
  if (wordOf(answer) !== underWay) finish(stage)
}

function check({ installed, next }: Stage, answer: Answer, about: string): void {
  expectAnswer(answer, ['200'], about)
  const { dependencies, nextInstallation } = answer.body as Manifest
  agree(dependencies, installed, `${about}: what is installed`)
  agree(nextInstallation?.status, next?.status, `${about}: the status of what is to come`)
  agree(nextInstallation?.dependencies, next?.wanted, `${about}: what is to come`)
  agree(typeof nextInstallation?.error, next?.status === 'FAILED' ? 'string' : 'undefined', `${about}: the error`)
}

const stageOf = ({ client, path }: OnPackages, dependencies: Dependencies) =>
  client.call('PUT', path, { json: { dependencies } })
const installOf = ({ client, path }: OnPackages) => client.post(`${path}/install`)
const discardOf = ({ client, path }: OnPackages) => client.delete(`${path}/install`)

/** Reads until an installation is over. */
async function awaitEnd(stage: Stage, real: OnPackages): Promise<void> {
  const over = async () => {
    const { body } = await real.client.get<Manifest>(real.path)
    return body.nextInstallation?.status !== 'INSTALLING'
  }
  await waitUntil('the end of an installation', over, { timeoutMs: withinMs, everyMs: 100 })
  finish(stage)
  check(stage, await real.client.get(real.path), 'after an installation')
}

const put = steps<Stage, OnPackages, Dependencies>('stage', wanted, (wanted) => ({
  run: async (stage, real) => {
    const answer = await stageOf(real, wanted)
    learn(stage, answer)
    if (stage.next?.status === 'INSTALLING') return
    stage.next = { status: 'PENDING', wanted }
    check(stage, answer, 'staging')
  },
}))

const install = plainSteps<Stage, OnPackages>('install', {
  run: async (stage, real) => {
    const answer = await installOf(real)
    learn(stage, answer)
    if (stage.next === undefined) return expectAnswer(answer, [nothing], 'installing what is not staged')
    if (stage.next.status === 'INSTALLING') return
    expectAnswer(answer, ['200'], 'installing')
    stage.next.status = 'INSTALLING'
  },
})

const discard = plainSteps<Stage, OnPackages>('discard', {
  run: async (stage, real) => {
    const answer = await discardOf(real)
    learn(stage, answer)
    if (stage.next === undefined) return expectAnswer(answer, [nothing], 'discarding what is not staged')
    if (stage.next.status === 'INSTALLING') return
    stage.next = undefined
    check(stage, answer, 'discarding')
  },
})

const wait = plainSteps<Stage, OnPackages>('wait', {
  may: ({ next }) => next?.status === 'INSTALLING',
  run: awaitEnd,
})

const read = plainSteps<Stage, OnPackages>('read', {
  run: async (stage, { client, path }) => {
    const answer = await client.get<Manifest>(path)
    if (answer.body.nextInstallation?.status !== 'INSTALLING') finish(stage)
    check(stage, answer, 'reading')
  },
})

const use = plainSteps<Stage, OnPackages>('use', {
  run: async (stage, real) => {
    const answer = await real.client.post<string[]>(`/processes/${real.finderId}/execute-sync`, {})
    expectAnswer(answer, ['203'], 'running')
    const there = (of: Stage) => JSON.stringify(names.filter((name) => Object.hasOwn(of.installed, name)))
    const after = { ...stage }
    finish(after)
    if (![there(stage), there(after)].includes(answer.text))
      throw new Error(`A run finds ${answer.text}, the model ${there(stage)} or, once it is installed, ${there(after)}`)
  },
})

/** Whether what is to come waits to be installed. */
async function isStaged({ client, path }: OnPackages): Promise<boolean> {
  return (await client.get<Manifest>(path)).body.nextInstallation?.status === 'PENDING'
}

/** Of an installation and what would change it, at once, one is first. */
const race = steps<Stage, OnPackages, Dependencies | undefined>(
  'install and stage or discard at once',
  fc.option(wanted, { nil: undefined }),
  (wanted) => ({
    may: ({ next }) => next?.status !== 'INSTALLING',
    run: async (stage, real) => {
      const other = () => (wanted === undefined ? discardOf(real) : stageOf(real, wanted))
      const [installed, changed] = await Promise.all([installOf(real), other()])
      const both = `${wordOf(installed)} and ${wordOf(changed)}`
      const was = stage.next
      const then: Record<string, Stage> = {}
      const add = (answers: string, next: Stage['next'], { installed } = stage) => (then[answers] = { installed, next })
      // The change is first.
      if (wanted !== undefined) add('200 and 200', { status: 'INSTALLING', wanted })
      else add(`${nothing} and ${was === undefined ? nothing : '200'}`, undefined)
      // The installation is first, and goes on or is over when the change comes.
      if (was === undefined) {
        if (wanted !== undefined) add(`${nothing} and 200`, { status: 'PENDING', wanted })
      } else {
        const begun: Stage = { ...stage, next: { status: 'INSTALLING', wanted: was.wanted } }
        add(`200 and ${underWay}`, begun.next)
        finish(begun)
        if (wanted === undefined) add(`200 and ${begun.next === undefined ? nothing : '200'}`, undefined, begun)
        else if (both === '200 and 200' && (await isStaged(real))) add(both, { status: 'PENDING', wanted }, begun)
      }
      if (!Object.hasOwn(then, both)) throw new Error(`Answered ${both}, expected ${Object.keys(then).join(', or ')}`)
      Object.assign(stage, then[both])
    },
  }),
)

const finders: Record<Language, string> = {
  JAVASCRIPT: `const there = []
try { require('one'); there.push('one') } catch {}
try { require('two'); there.push('two') } catch {}
return there`,
  PYTHON: `there = []
try:
    import one
    there.append('one')
except ImportError: pass
try:
    import two
    there.append('two')
except ImportError: pass
return there`,
}

/** The packages of a team in one language, from a registry that has two. */
const machine = (name: string, programmingLanguage: Language): Machine<Stage, OnPackages> => ({
  name,
  maxSteps: 12,
  runs: 6,
  steps: [put, put, install, install, discard, wait, wait, read, use, race],
  begin: async (client) => {
    const finder = { name: `finder-${randomUUID()}`, programmingLanguage, sourceCode: finders[programmingLanguage] }
    const made = await client.post<Process>('/processes', finder)
    expectAnswer(made, ['201'], 'making the process')
    client.trace.name(made.body.id, 'finder')
    const real = { client, path: `/dependencies/${programmingLanguage}`, finderId: made.body.id }
    const model: Stage = { installed: (await client.get<Manifest>(real.path)).body.dependencies, next: undefined }
    if (Object.keys(model.installed).length > 0) await empty(model, real)
    return { model, real }
  },
  end: async (stage, real) => {
    try {
      if (stage.next?.status === 'INSTALLING') await awaitEnd(stage, real)
      if (stage.next !== undefined) expectAnswer(await discardOf(real), ['200'], 'discarding')
    } finally {
      await real.client.delete(`/processes/${real.finderId}`)
    }
  },
})

async function empty(stage: Stage, real: OnPackages): Promise<void> {
  stage.next = { status: 'INSTALLING', wanted: {} }
  expectAnswer(await stageOf(real, {}), ['200'], 'staging')
  expectAnswer(await installOf(real), ['200'], 'installing')
  await awaitEnd(stage, real)
}

export const javascriptPackages = machine('javascriptPackages', 'JAVASCRIPT')
export const pythonPackages = machine('pythonPackages', 'PYTHON')
