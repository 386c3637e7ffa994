import { illegalStep } from '../chaos/transitions.ts'
import { terminalStatuses, type Execution, type LogEntry, type Page, type Status } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { agree, expectAnswer } from './agree.ts'
import type { Real } from './machine.ts'
import { settle, statusAtRest, type Run, type RunQueue } from './run-queue.ts'
import type { Witness } from './witness.ts'

export interface OnRuns extends Real {
  processId: string
  witness: Witness
}

const withinMs = 20_000

/** Waits until the system has come to rest where the model has: slots filled from the queue in order, ends told. */
export async function rest(queue: RunQueue, real: OnRuns): Promise<void> {
  settle(queue)
  for (const run of queue.runs.filter(({ last }) => last === undefined))
    await arrive(run, statusAtRest(queue, run), real)
}

async function arrive(run: Run, status: Status, real: OnRuns): Promise<void> {
  let is: Status | undefined
  let why = ''
  const reached = async () => {
    const execution = await look(run, real)
    is = execution.status
    why = execution.timeline.events.at(-1)?.explanation ?? why
    return is === status || terminalStatuses.includes(is)
  }
  await waitUntil(status, reached, { timeoutMs: withinMs }).catch((error: Error) => {
    why = error.message
  })
  if (is !== status) throw new Error(`The run is ${is}, the model says ${status}: ${why}`)
  if (run.end !== undefined) await ended(run, real)
}

/** Reads an execution and compares it with all that was known of it before. */
export async function look(run: Run, { client, processId, witness }: OnRuns): Promise<Execution> {
  const answer = await client.get<Execution>(`/executions/${run.id}`)
  expectAnswer(answer, ['200'], 'reading')
  const execution = answer.body
  const { events } = execution.timeline
  const statuses = events.map((event) => event.status)
  agree(illegalStep(statuses), undefined, 'the timeline')
  agree(statuses.at(-1), execution.status, 'the status and the last of the timeline')
  agree(events.slice(0, run.seen.length), run.seen, 'what the timeline was before')
  agree(execution.processId, processId, 'the process')
  agree(execution.comment ?? undefined, run.comment, 'the comment')
  agree(execution.parameters, { witness: witness.url, plan: run.plan }, 'the parameters')
  if (run.last !== undefined) agree(execution, run.last, 'an execution that has ended')
  run.seen = events
  return execution
}

/** What holds of a run at its end and never changes again. */
async function ended(run: Run, real: OnRuns): Promise<void> {
  const { witness } = real
  run.last = await look(run, real)
  const { returnValue, timeline } = run.last
  const hasRun = run.seen.some(({ status }) => status === 'RUNNING')
  if (run.end === 'FINISHED') agree(JSON.parse(returnValue ?? ''), { plan: run.plan }, 'the value')
  else agree(returnValue ?? undefined, undefined, 'the value of a run that did not finish')
  if (run.end === 'ERROR') agree(timeline.events.at(-1)?.explanation, 'Error: asked to fail', 'the reason')
  if (run.end === 'REJECTED') agree(run.seen.length, 2, 'the events of a refused run')
  const starts = witness.startsOf(run.id)
  if (!hasRun) agree(starts, 0, 'starts of a run that was never RUNNING')
  if (run.end === 'FINISHED' || run.end === 'ERROR') agree(starts, 1, 'starts of a run that came to its end')
  if (starts > 1) throw new Error(`The code of one execution began ${starts} times`)
  await waitUntil('the process of a run that has ended to be gone', () => !witness.isHeld(run.id), { timeoutMs: 5000 })
}

/** The log of a run that has ended: told in order, and of no second start. */
export async function checkLog(run: Run, { client }: OnRuns): Promise<void> {
  const startLines = async () => {
    const answer = await client.get<Page<LogEntry>>(`/executions/${run.id}/logs`, { limit: 1000 })
    expectAnswer(answer, ['200'], 'reading the log')
    return answer.body.data.filter(({ message }) => message === 'started').length
  }
  const wanted = run.end === 'FINISHED' || run.end === 'ERROR' ? 1 : 0
  if (wanted === 1)
    await waitUntil('the line of a run in its log', async () => (await startLines()) === 1, { timeoutMs: withinMs })
  else if ((await startLines()) > 1) throw new Error('The log tells of more than one start')
}
