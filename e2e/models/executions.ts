import * as fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { EventStream } from '../client/event-stream.ts'
import type { Execution, Page, Process } from '../client/records.ts'
import { agree, expectAnswer } from './agree.ts'
import { checkLog, look, rest, type OnRuns } from './execution-checks.ts'
import { inputOf, raceSteps } from './execution-races.ts'
import { nth, plainSteps, steps, type Machine } from './machine.ts'
import { accept, active, isFull, newRun, settle, type Plan, type Run, type RunQueue } from './run-queue.ts'
import { openWitness, witnessed } from './witness.ts'

const plan = fc.constantFrom<Plan>('value', 'hold', 'hold', 'fault')
const some = fc.nat(30)

/** Names the run of an answer, and takes it into the model. */
function taken(queue: RunQueue, { client }: OnRuns, id: string, plan: Plan, comment?: string): Run {
  client.trace.name(id, `run${queue.runs.length + 1}`)
  return accept(queue, newRun(id, plan, comment))
}

const start = steps<RunQueue, OnRuns, [Plan, string | undefined]>(
  'start',
  fc.tuple(plan, fc.constantFrom(undefined, 'a comment')),
  ([plan, comment]) => ({
    run: async (queue, real) => {
      const { client, processId } = real
      const path = `/processes/${processId}/execute`
      const answer = await client.post<{ executionId: string }>(path, { ...inputOf(real, plan), comment })
      expectAnswer(answer, ['202'], 'starting')
      agree(answer.headers.get('svc-execution-id'), answer.body.executionId, 'the id in the header')
      taken(queue, real, answer.body.executionId, plan, comment)
      await rest(queue, real)
    },
  }),
)

const sync = steps<RunQueue, OnRuns, Plan>('run and wait', plan, (plan) => ({
  run: async (queue, real) => {
    const { client, processId } = real
    const refused = isFull(queue)
    const answer = await client.post<unknown>(`/processes/${processId}/execute-sync`, inputOf(real, plan))
    const run = taken(queue, real, answer.headers.get('svc-execution-id') ?? '', plan)
    settle(queue)
    // However short a run is, on a busy machine it may be longer than the longest wait.
    const late = '408 execution_timeout'
    if (refused) expectAnswer(answer, ['429 execution_rejected'], 'a run that was refused')
    else if (run.end === undefined) expectAnswer(answer, [late], 'a run that goes on')
    else expectAnswer(answer, [run.end === 'FINISHED' ? '203' : '500 execution_failed', late], 'a run that ended')
    if (answer.status === 203) agree(answer.body, { plan }, 'the value')
    else agree((answer.body as { executionId: string }).executionId, run.id, 'the id in the answer')
    await rest(queue, real)
  },
}))

const keyed = steps<RunQueue, OnRuns, [string, Plan]>(
  'start by a key',
  fc.tuple(fc.constantFrom('one', 'two'), plan),
  ([name, plan]) => ({
    run: async (queue, real) => {
      const { client, processId } = real
      const headers = { 'idempotency-key': `${name} of ${processId}` }
      const path = `/processes/${processId}/execute`
      const answer = await client.post<{ executionId: string }>(path, inputOf(real, plan), { headers })
      const known = queue.keys.get(name)
      const replayed = answer.headers.get('idempotency-replayed')
      if (known === undefined) {
        expectAnswer(answer, ['202'], 'the first start by a key')
        agree(replayed, null, 'a replay')
        queue.keys.set(name, { plan, run: taken(queue, real, answer.body.executionId, plan) })
      } else if (known.plan === plan) {
        expectAnswer(answer, ['202'], 'the same start by the same key')
        agree([answer.body.executionId, replayed], [known.run.id, 'true'], 'a replay')
      } else agree(answer.status, 409, 'the key of another start')
      await rest(queue, real)
    },
  }),
)

const kill = steps<RunQueue, OnRuns, number>('kill', some, (n) => ({
  may: ({ runs }) => runs.length > 0,
  run: async (queue, real) => {
    const run = nth(queue.runs, n)
    const answer = await real.client.put<string>(`/executions/${run.id}/kill`)
    if (run.end !== undefined) expectAnswer(answer, ['400 execution_ended'], 'killing what has ended')
    else {
      expectAnswer(answer, ['202'], 'killing')
      agree(answer.body, run.id, 'the answer')
      run.end = 'KILLED'
      agree((await look(run, real)).status, 'KILLED', 'the status after a kill')
    }
    await rest(queue, real)
  },
}))

const release = steps<RunQueue, OnRuns, [number, 'value' | 'fault']>(
  'let go on',
  fc.tuple(some, fc.constantFrom('value', 'fault')),
  ([n, word]) => ({
    may: (queue) => active(queue).length > 0,
    run: async (queue, real) => {
      const run = nth(active(queue), n)
      real.witness.release(run.id, (run.released ??= word))
      await rest(queue, real)
    },
  }),
)

const rerun = steps<RunQueue, OnRuns, number>('rerun', some, (n) => ({
  may: ({ runs }) => runs.length > 0,
  run: async (queue, real) => {
    const run = nth(queue.runs, n)
    const answer = await real.client.post<string>(`/executions/${run.id}/rerun`)
    expectAnswer(answer, ['202'], 'rerunning')
    agree(
      queue.runs.some(({ id }) => id === answer.body),
      false,
      'the id of another run',
    )
    taken(queue, real, answer.body, run.plan, run.comment)
    await look(run, real)
    await rest(queue, real)
  },
}))

const read = steps<RunQueue, OnRuns, number>('read', some, (n) => ({
  may: ({ runs }) => runs.length > 0,
  run: async ({ runs }, real) => {
    const run = nth(runs, n)
    await look(run, real)
    await checkLog(run, real)
  },
}))

const follow = steps<RunQueue, OnRuns, number>('wait', some, (n) => ({
  may: ({ runs }) => runs.some(({ end }) => end !== undefined),
  run: async ({ runs }, { client }) => {
    const run = nth(
      runs.filter(({ end }) => end !== undefined),
      n,
    )
    const stream = await EventStream.open(client, run.id)
    await stream.has('end')
    agree(await stream.closed, true, 'the end of the stream')
    const statuses = stream.events.filter(({ event }) => event === 'status').map(({ data }) => data.status)
    agree(
      statuses,
      run.seen.map(({ status }) => status),
      'what the stream tells',
    )
  },
}))

const list = plainSteps<RunQueue, OnRuns>('list', {
  run: async (queue, { client, processId }) => {
    const rows = new Map<string, Execution>()
    const { body } = await client.get<Page<Execution>>('/executions', { processId, limit: 1000 })
    for (const row of body.data) rows.set(row.id, row)
    agree(
      [...rows.keys()],
      queue.runs
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
      'the list, newest first',
    )
    for (const { id, last } of queue.runs)
      if (last) agree(rows.get(id)?.timeline, last.timeline, 'a timeline in the list')
    const finished = await client.get<Page<Execution>>('/executions', { processId, status: 'FINISHED', limit: 1000 })
    const wanted = queue.runs.filter(({ end }) => end === 'FINISHED').map(({ id }) => id)
    agree(
      finished.body.data.map(({ id }) => id),
      wanted.toSorted().toReversed(),
      'the list of the finished',
    )
  },
})

const unknown = plainSteps<RunQueue, OnRuns>('ask for an execution that is not there', {
  run: async (_, { client }) => {
    const path = `/executions/${randomUUID()}`
    const answers = [await client.get(path), await client.put(`${path}/kill`), await client.post(`${path}/rerun`)]
    for (const answer of answers) expectAnswer(answer, ['404 execution_not_found'], 'an unknown execution')
  },
})

/** Executions of one process, in a team with few slots and a short queue. */
export const executions: Machine<RunQueue, OnRuns> = {
  name: 'executions',
  maxSteps: 30,
  runs: 20,
  steps: [start, start, start, sync, keyed, kill, release, rerun, read, follow, list, unknown, ...raceSteps],
  begin: async (client) => {
    const witness = await openWitness()
    const made = await client.post<Process>('/processes', { name: `runs-${randomUUID()}`, sourceCode: witnessed })
    expectAnswer(made, ['201'], 'making the process')
    client.trace.name(made.body.id, 'process')
    client.trace.name(witness.url, 'WITNESS')
    return { model: { runs: [], keys: new Map() }, real: { client, processId: made.body.id, witness } }
  },
  end: async (queue, real) => {
    const { client, processId, witness } = real
    try {
      for (const run of active(queue)) {
        expectAnswer(await client.put(`/executions/${run.id}/kill`), ['202'], 'killing')
        run.end = 'KILLED'
      }
      await rest(queue, real)
      for (const run of queue.runs) await look(run, real)
    } finally {
      await client.delete(`/processes/${processId}`)
      await witness.close()
    }
  },
}
