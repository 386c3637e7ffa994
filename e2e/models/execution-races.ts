import * as fc from 'fast-check'
import { waitUntil } from '../system/wait-until.ts'
import { agree, expectAnswer } from './agree.ts'
import { look, rest, type OnRuns } from './execution-checks.ts'
import { nth, steps } from './machine.ts'
import { active, limits, newRun, placed, type RunQueue, type Plan } from './run-queue.ts'

/** A kill, or several, against the end of a run: one of them wins, and all answers agree with it. */
const killAgainstEnd = steps<RunQueue, OnRuns, [number, number, 'value' | 'fault']>(
  'let go on and kill at once',
  fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 3 }), fc.constantFrom('value', 'fault')),
  ([n, kills, word]) => ({
    may: (queue) => placed(queue).length > 0,
    run: async (queue, real) => {
      const run = nth(placed(queue), n)
      real.witness.release(run.id, (run.released ??= word))
      const path = `/executions/${run.id}/kill`
      const answers = await Promise.all(Array.from({ length: kills }, () => real.client.put(path)))
      for (const answer of answers) expectAnswer(answer, ['202', '400 execution_ended'], 'killing at the end')
      if (answers.some(({ status }) => status === 202)) run.end = 'KILLED'
      await rest(queue, real)
      agree(run.seen.filter(({ status }) => status === 'KILLED').length, run.end === 'KILLED' ? 1 : 0, 'KILLED events')
    },
  }),
)

/** Several starts at once: as many are accepted as there is room for, whichever they are. */
const startsAtOnce = steps<RunQueue, OnRuns, number>('start at once', fc.integer({ min: 2, max: 5 }), (count) => ({
  run: async (queue, real) => {
    const capacity = limits.running + limits.queued - active(queue).length
    const free = Math.max(limits.running - active(queue).length, 0)
    const path = `/processes/${real.processId}/execute`
    const start = () => real.client.post<{ executionId: string }>(path, inputOf(real, 'hold'))
    const answers = await Promise.all(Array.from({ length: count }, start))
    for (const answer of answers) expectAnswer(answer, ['202'], 'starting')
    const runs = answers.map(({ body }) => newRun(body.executionId, 'hold')).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    for (const [index, run] of runs.entries()) {
      real.client.trace.name(run.id, `run${queue.runs.length + index + 1}`)
      if ((await look(run, real)).status === 'REJECTED') run.end = 'REJECTED'
    }
    agree(runs.filter(({ end }) => end === 'REJECTED').length, Math.max(count - capacity, 0), 'how many were refused')
    const begun = new Set<string>()
    const allBegun = async () => {
      for (const run of runs) if ((await look(run, real)).status === 'RUNNING') begun.add(run.id)
      return begun.size >= Math.min(count, free)
    }
    await waitUntil('runs to take the slots that are free', allBegun, { timeoutMs: 20_000 })
    // Those that have a slot are before those that wait, who are in the order of their ids.
    const waits = (id: string) => (begun.has(id) ? 0 : 1)
    queue.runs.push(...runs.toSorted((a, b) => waits(a.id) - waits(b.id)))
    await rest(queue, real)
  },
}))

/** Kills of one that runs and one that waits, and a start, at once. */
const killBeforeStart = steps<RunQueue, OnRuns, number>('kill one that runs and one that waits', fc.nat(30), (n) => ({
  may: (queue) => active(queue).length > limits.running,
  run: async (queue, real) => {
    const chosen = [nth(placed(queue), n), nth(active(queue).slice(limits.running), n)]
    const kill = (id: string) => real.client.put(`/executions/${id}/kill`)
    const answers = await Promise.all(chosen.map(({ id }) => kill(id)))
    for (const answer of answers) expectAnswer(answer, ['202'], 'killing')
    for (const run of chosen) run.end = 'KILLED'
    await rest(queue, real)
  },
}))

export const raceSteps = [killAgainstEnd, startsAtOnce, killBeforeStart]

/** What a run of a plan is started with. */
export const inputOf = ({ witness }: OnRuns, plan: Plan) => ({ parameters: { witness: witness.url, plan } })
