import { connectSandbox } from '@automation/client/sandbox'
import * as fc from 'fast-check'
import type { Answer } from '../client/client.ts'
import type { Page, Sandbox } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { agree, expectAnswer } from './agree.ts'
import { nth, plainSteps, steps, type Machine, type Real } from './machine.ts'

/** How many sandboxes a team may have at a time: the setting that the system is started with. */
export const mostSandboxes = 3

interface Known {
  id: string
  /** As its answers give it. */
  timeoutAt: string
  /** As it was first read after its end. */
  ended: Sandbox | undefined
  hasRun: boolean
}

/** The sandboxes of a team that has no others, oldest first. */
interface Sandboxes {
  known: Known[]
}

type Status = Sandbox['status']

/** After its deadline a sandbox ends within this time, on a busy machine too. */
const sweptWithinMs = 15_000
const some = fc.nat(20)
const timeout = fc.constantFrom(1000, 2000, 60_000, 60_000)

const deadline = ({ timeoutAt }: Known) => Date.parse(timeoutAt)
const live = ({ known }: Sandboxes) => known.filter(({ ended }) => ended === undefined)

/** In which statuses a sandbox can be that was asked for between `before` and now. */
function possible(known: Known, before: number): Status[] {
  const going: Status[] = known.hasRun ? ['RUNNING'] : ['PENDING', 'RUNNING']
  if (deadline(known) > Date.now()) return going
  return deadline(known) + sweptWithinMs < before ? ['TIMED_OUT'] : [...going, 'TIMED_OUT']
}

/** Compares an answer with what is known, and learns from it. */
function check(known: Known, sandbox: Sandbox, statuses: Status[], about: string): void {
  if (known.ended !== undefined) return agree(sandbox, known.ended, `${about}: a sandbox that has ended`)
  if (!statuses.includes(sandbox.status))
    throw new Error(`${about}: it is ${sandbox.status} (${sandbox.reason}), the model says ${statuses.join(' or ')}`)
  agree(sandbox.timeoutAt, known.timeoutAt, `${about}: its deadline`)
  known.hasRun ||= sandbox.status === 'RUNNING'
  if (sandbox.status !== 'PENDING' && sandbox.status !== 'RUNNING') known.ended = sandbox
}

async function look(known: Known, { client }: Real): Promise<Sandbox> {
  const before = Date.now()
  const answer = await client.get<Sandbox>(`/sandboxes/${known.id}`)
  expectAnswer(answer, ['200'], 'reading')
  check(known, answer.body, possible(known, before), 'reading')
  return answer.body
}

function checkDeadline({ timeoutAt }: Sandbox, before: number, timeoutMs: number): void {
  const at = Date.parse(timeoutAt) - timeoutMs
  if (at < before - 1 || at > Date.now() + 1)
    throw new Error(`The deadline is ${timeoutAt}, which is not ${timeoutMs} ms from when it was asked for`)
}

function made(model: Sandboxes, { client }: Real, { body }: Answer<Sandbox>, before: number): void {
  client.trace.name(body.id, `sandbox${model.known.length + 1}`)
  const known: Known = { id: body.id, timeoutAt: body.timeoutAt, ended: undefined, hasRun: false }
  model.known.push(known)
  check(known, body, possible(known, before), 'making')
}

const create = steps<Sandboxes, Real, [number, number]>(
  'create',
  fc.tuple(fc.integer({ min: 1, max: 4 }), timeout),
  ([count, timeoutMs]) => ({
    run: async (model, real) => {
      const before = Date.now()
      const there = live(model)
      const one = () => real.client.post<Sandbox>('/sandboxes', { imageId: 'base', timeout: timeoutMs })
      const answers = await Promise.all(Array.from({ length: count }, one))
      const accepted = answers.filter(({ status }) => status === 201)
      for (const answer of answers) expectAnswer(answer, ['201', '429 too_many_sandboxes'], 'making')
      for (const answer of accepted) {
        checkDeadline(answer.body, before, timeoutMs)
        made(model, real, answer, before)
      }
      // Those whose deadline comes meanwhile may count or not.
      const surely = there.filter((each) => deadline(each) > Date.now())
      const capacityBeside = (others: Known[]) => Math.min(Math.max(mostSandboxes - others.length, 0), count)
      const capacity = [capacityBeside(there), capacityBeside(surely)] as const
      if (accepted.length < capacity[0] || accepted.length > capacity[1])
        throw new Error(
          `${accepted.length} of ${count} were made where there was capacity for ${capacity.join(' to ')}`,
        )
    },
  }),
)

const update = steps<Sandboxes, Real, [number, number]>('update', fc.tuple(some, timeout), ([n, timeoutMs]) => ({
  may: ({ known }) => known.length > 0,
  run: async (model, { client }) => {
    const known = nth(model.known, n)
    const before = Date.now()
    const path = `/sandboxes/${known.id}`
    const answer = await client.post<Sandbox>(path, { timeout: timeoutMs })
    const isOver = known.ended !== undefined
    const words = isOver ? [] : ['200']
    expectAnswer(answer, deadline(known) > Date.now() && !isOver ? words : [...words, '400 sandbox_ended'], 'updating')
    if (answer.status !== 200) return
    checkDeadline(answer.body, before, timeoutMs)
    known.timeoutAt = answer.body.timeoutAt
    check(known, answer.body, known.hasRun ? ['RUNNING'] : ['PENDING', 'RUNNING'], 'updating')
  },
}))

const wrongTimeout = steps<Sandboxes, Real, [number, number]>(
  'update wrongly',
  fc.tuple(some, fc.constantFrom(999, 86_400_001, -1)),
  ([n, timeoutMs]) => ({
    may: ({ known }) => known.length > 0,
    run: async (model, real) => {
      const known = nth(model.known, n)
      agree((await real.client.post(`/sandboxes/${known.id}`, { timeout: timeoutMs })).status, 400, 'a wrong timeout')
      await look(known, real)
    },
  }),
)

const kill = steps<Sandboxes, Real, [number, number]>(
  'kill',
  fc.tuple(some, fc.integer({ min: 1, max: 2 })),
  ([n, count]) => ({
    may: ({ known }) => known.length > 0,
    run: async (model, { client }) => {
      const known = nth(model.known, n)
      const one = () => client.post<Sandbox>(`/sandboxes/${known.id}/kill`)
      for (const answer of await Promise.all(Array.from({ length: count }, one))) {
        expectAnswer(answer, ['200'], 'killing')
        check(known, answer.body, deadline(known) > Date.now() ? ['KILLED'] : ['KILLED', 'TIMED_OUT'], 'killing')
      }
    },
  }),
)

const read = steps<Sandboxes, Real, number>('read', some, (n) => ({
  may: ({ known }) => known.length > 0,
  run: async (model, real) => {
    await look(nth(model.known, n), real)
  },
}))

/** Waits until it runs, and lets it work; one that has ended refuses its key. */
const use = steps<Sandboxes, Real, number>('use', some, (n) => ({
  may: (model) => model.known.some((each) => each.ended !== undefined || deadline(each) > Date.now() + 30_000),
  run: async (model, real) => {
    const usable = model.known.filter((each) => each.ended !== undefined || deadline(each) > Date.now() + 25_000)
    const known = nth(usable, n)
    const runs = async () => (await look(known, real)).status !== 'PENDING'
    await waitUntil('a sandbox to run', runs, { timeoutMs: 20_000, everyMs: 50 })
    const sandbox = connectSandbox(await look(known, real))
    try {
      const said = await sandbox.run(['echo', 'here']).then(
        ({ stdout }) => stdout.trim(),
        (error: unknown) => (error as { code?: string }).code ?? String(error),
      )
      agree(said, known.ended === undefined ? 'here' : 'sandbox_key', 'what a command says')
    } finally {
      sandbox.close()
    }
  },
}))

const expire = steps<Sandboxes, Real, number>('wait for a deadline', some, (n) => ({
  may: (model) => live(model).some((each) => deadline(each) < Date.now() + 3000),
  run: async (model, real) => {
    const near = live(model).filter((each) => deadline(each) < Date.now() + 3000)
    if (near.length === 0) return
    const known = nth(near, n)
    const over = async () => (await look(known, real)).status === 'TIMED_OUT'
    await waitUntil('TIMED_OUT', over, { timeoutMs: sweptWithinMs + 3000, everyMs: 100 })
  },
}))

const list = plainSteps<Sandboxes, Real>('list', {
  run: async (model, { client }) => {
    const before = Date.now()
    const { body } = await client.get<Page<Sandbox>>('/sandboxes', { limit: 1000 })
    const rows = body.data.filter(({ id }) => model.known.some((known) => known.id === id))
    agree(
      rows.map(({ id }) => id),
      model.known
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
      'the list, newest first',
    )
    for (const known of model.known)
      check(known, rows.find(({ id }) => id === known.id) as Sandbox, possible(known, before), 'the list')
  },
})

/** Sandboxes of this machine, with deadlines that come while others are made, moved and killed. */
export const sandboxes: Machine<Sandboxes, Real> = {
  name: 'sandboxes',
  maxSteps: 15,
  runs: 8,
  steps: [create, create, update, update, wrongTimeout, kill, kill, read, use, expire, list],
  begin: async (client) => ({ model: { known: [] }, real: { client } }),
  end: async (model, { client }) => {
    for (const { id } of live(model)) expectAnswer(await client.post(`/sandboxes/${id}/kill`), ['200'], 'killing')
  },
}
