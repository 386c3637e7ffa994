import * as fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import type { Answer } from '../client/client.ts'
import type { Page, Process, Schedule } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { agree, expectAnswer, wordOf } from './agree.ts'
import {
  beginsWithinMs,
  check,
  checkRuns,
  everySecond,
  runsOf,
  there,
  timed,
  turn,
  yearly,
  type Known,
  type Moment,
  type OnSchedules,
  type Schedules,
  type When,
} from './known-schedules.ts'
import { nth, plainSteps, steps, type Machine } from './machine.ts'

/** When it is to come: by a cron, or in so many ms. */
type Timing = { cron: string } | { inMs: number }

const timing = fc.constantFrom<Timing>(
  { cron: yearly },
  { cron: everySecond },
  { inMs: 700 },
  { inMs: 1500 },
  { inMs: 60_000 },
)
const some = fc.nat(20)
const comment = fc.constantFrom(undefined, 'a comment')

function whenOf(timing: Timing): When {
  return 'cron' in timing ? timing : { dateTime: Date.now() + timing.inMs }
}

const bodyOf = (when: When) => ('cron' in when ? when : { dateTime: new Date(when.dateTime).toISOString() })

/** Whether a time that is asked for has passed: surely, surely not, or it came in just this moment. */
function isPast(when: When, { from, to }: Moment): boolean | undefined {
  if ('cron' in when || when.dateTime > to) return false
  return when.dateTime <= from ? true : undefined
}

function expectTimely(answer: Answer, when: When, at: Moment, done: string, about: string): void {
  const past = isPast(when, at)
  const refused = '400 invalid_input'
  const words = { true: [refused], false: [done], undefined: [refused, done] }[`${past}`]
  expectAnswer(answer, words, about)
  if (answer.status === 400) agree(answer.text.includes('/dateTime'), true, `${about}: it names the time`)
}

const create = steps<Schedules, OnSchedules, [Timing, boolean, string | undefined]>(
  'create',
  fc.tuple(timing, fc.boolean(), comment),
  ([timing, allowConcurrent, comment]) => ({
    may: (model) => there(model).length < 4,
    run: async (model, real) => {
      const when = whenOf(timing)
      const body = { ...bodyOf(when), allowConcurrentExecutions: allowConcurrent, input: { comment } }
      const path = `/processes/${real.processId}/schedule`
      const [answer, at] = await timed(() => real.client.post<Schedule>(path, body))
      expectTimely(answer, when, at, '201', 'creating')
      if (answer.status !== 201) return
      real.client.trace.name(answer.body.id, `schedule${model.known.length + 1}`)
      const known: Known = {
        ...{ id: answer.body.id, when, paused: false, allowConcurrent, comment },
        ...{ isGone: false, spans: [] },
      }
      model.known.push(known)
      turn(known, at, true)
      check(known, answer.body, at.from, 'creating')
    },
  }),
)

const patch = steps<Schedules, OnSchedules, [number, Timing | undefined, string | undefined]>(
  'change',
  fc.tuple(some, fc.option(timing, { nil: undefined }), comment),
  ([n, timing, comment]) => ({
    may: (model) => there(model).length > 0,
    run: async (model, real) => {
      const known = nth(there(model), n)
      const when = timing && whenOf(timing)
      const body = { ...(when && bodyOf(when)), ...(comment !== undefined && { input: { comment } }) }
      const path = `/schedules/${known.id}`
      const [answer, at] = await timed(() => real.client.patch<Schedule>(path, body))
      if (when) expectTimely(answer, when, at, '200', 'changing')
      else expectAnswer(answer, ['200'], 'changing')
      if (answer.status !== 200) return
      known.comment = comment ?? known.comment
      if (when) {
        known.when = when
        turn(known, at, !known.paused)
      }
      check(known, answer.body, at.from, 'changing')
    },
  }),
)

const wrong = steps<Schedules, OnSchedules, number>('change wrongly', some, (n) => ({
  may: (model) => there(model).length > 0,
  run: async (model, { client }) => {
    const { id } = nth(there(model), n)
    const bodies = [{ cron: 'never' }, { dateTime: '2020-01-01T00:00:00Z' }, { cron: yearly, dateTime: '2099-01-01' }]
    for (const body of bodies)
      expectAnswer(await client.patch(`/schedules/${id}`, body), ['400 invalid_input'], 'wrong')
  },
}))

const pause = steps<Schedules, OnSchedules, number>('pause', some, (n) => ({
  may: (model) => there(model).length > 0,
  run: async (model, { client }) => {
    const known = nth(there(model), n)
    const [answer, at] = await timed(() => client.put(`/schedules/${known.id}/pause`))
    if (known.paused) return expectAnswer(answer, ['400 schedule_paused'], 'pausing what is paused')
    expectAnswer(answer, ['200'], 'pausing')
    known.paused = true
    turn(known, at, false)
  },
}))

const resume = steps<Schedules, OnSchedules, number>('resume', some, (n) => ({
  may: (model) => there(model).length > 0,
  run: async (model, { client }) => {
    const known = nth(there(model), n)
    const [answer, at] = await timed(() => client.put(`/schedules/${known.id}/resume`))
    if (!known.paused) return expectAnswer(answer, ['400 schedule_active'], 'resuming what is active')
    expectTimely(answer, known.when, at, '200', 'resuming')
    if (answer.status !== 200) return
    known.paused = false
    turn(known, at, true)
  },
}))

const remove = steps<Schedules, OnSchedules, number>('delete', some, (n) => ({
  may: (model) => there(model).length > 0,
  run: async (model, { client }) => {
    const known = nth(there(model), n)
    const path = `/schedules/${known.id}`
    const [answer, at] = await timed(() => client.delete(path))
    expectAnswer(answer, ['200'], 'deleting')
    known.isGone = true
    turn(known, at, false)
    for (const again of [await client.get(path), await client.put(`${path}/pause`), await client.delete(path)])
      expectAnswer(again, ['404 schedule_not_found'], 'a schedule that is gone')
  },
}))

/** Of a pause and what goes against it, at once, one is first. */
const race = steps<Schedules, OnSchedules, [number, 'pause' | 'resume']>(
  'pause and pause or resume at once',
  fc.tuple(some, fc.constantFrom('pause', 'resume')),
  ([n, other]) => ({
    may: (model) => there(model).some(({ when, paused }) => 'cron' in when && !paused),
    run: async (model, { client }) => {
      const known = nth(
        there(model).filter(({ when, paused }) => 'cron' in when && !paused),
        n,
      )
      const path = `/schedules/${known.id}`
      const [answers, at] = await timed(() =>
        Promise.all([client.put(`${path}/pause`), client.put(`${path}/${other}`)]),
      )
      const both = answers.map((answer) => wordOf(answer))
      const refusal = other === 'pause' ? '400 schedule_paused' : '400 schedule_active'
      const wentOn = other === 'resume' && both.join() === '200,200'
      if (!wentOn) agree(both.toSorted(), ['200', refusal], 'at once')
      known.paused = !wentOn
      turn(known, at, wentOn)
    },
  }),
)

const read = steps<Schedules, OnSchedules, number>('read', some, (n) => ({
  may: (model) => there(model).length > 0,
  run: async (model, real) => {
    const known = nth(there(model), n)
    const [answer, { from }] = await timed(() => real.client.get<Schedule>(`/schedules/${known.id}`))
    expectAnswer(answer, ['200'], 'reading')
    check(known, answer.body, from, 'reading')
    await checkRuns(model, real)
  },
}))

const list = plainSteps<Schedules, OnSchedules>('list', {
  run: async (model, { client, processId }) => {
    const [{ body }, { from }] = await timed(() => client.get<Page<Schedule>>('/schedules', { processId, limit: 100 }))
    agree(
      body.data.map(({ id }) => id),
      there(model)
        .map(({ id }) => id)
        .toReversed(),
      'the list, newest first',
    )
    for (const known of there(model))
      check(known, body.data.find(({ id }) => id === known.id) as Schedule, from, 'the list')
  },
})

const comesSoon = ({ when, paused }: Known) =>
  !paused && ('cron' in when ? when.cron === everySecond : Math.abs(when.dateTime - Date.now()) < 3000)

const fire = steps<Schedules, OnSchedules, number>('wait for a run', some, (n) => ({
  may: (model) => there(model).some(comesSoon),
  run: async (model, real) => {
    const known = nth(there(model), n)
    if (!comesSoon(known)) return
    const runs = async () => (await runsOf(real)).get(known.id) ?? []
    const { when } = known
    const after = 'cron' in when ? Date.now() - 1000 : when.dateTime
    const isThere = async () => (await runs()).some(({ createdAt }) => Date.parse(createdAt) >= after)
    await waitUntil('a run', isThere, { timeoutMs: beginsWithinMs, everyMs: 100 })
    await checkRuns(model, real)
  },
}))

/** Schedules of one process, whose runs are short. */
export const schedules: Machine<Schedules, OnSchedules> = {
  name: 'schedules',
  maxSteps: 20,
  runs: 15,
  steps: [create, create, patch, patch, wrong, pause, resume, resume, remove, race, read, list, fire, fire],
  begin: async (client) => {
    const made = await client.post<Process>('/processes', { name: `times-${randomUUID()}`, sourceCode: 'return 1' })
    expectAnswer(made, ['201'], 'making the process')
    client.trace.name(made.body.id, 'process')
    return { model: { known: [] }, real: { client, processId: made.body.id } }
  },
  end: async (model, real) => {
    try {
      await checkRuns(model, real)
    } finally {
      expectAnswer(await real.client.delete(`/processes/${real.processId}`), ['200'], 'deleting the process')
      for (const { id } of model.known)
        expectAnswer(await real.client.get(`/schedules/${id}`), ['404 schedule_not_found'], 'its schedules')
    }
  },
}
