import { Status } from '@automation/contract/execution/v1/execution'
import { userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nothing, value } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start()
})
afterAll(() => system.stop())

test('a run with a slot at hand goes CREATED, RUNNING, FINISHED and its value reaches the caller', async () => {
  const runner = await system.runner({
    runs: (run) => value({ got: JSON.parse(Buffer.from(run.parameters).toString()) }),
  })
  const outcome = await system.run('demo', { parameters: Buffer.from('{"a":1}'), comment: 'first' })
  expect(outcome.status).toBe(Status.FINISHED)
  expect(Buffer.from(outcome.returnValue!).toString()).toBe('{"got":{"a":1}}')
  const execution = await system.get(outcome.executionId)
  expect(execution.timeline.map(({ status }) => status)).toEqual([Status.CREATED, Status.RUNNING, Status.FINISHED])
  expect(execution).toMatchObject({ comment: 'first', createdBy: 'tester', processSlug: 'hello' })
  expect(runner.stored).toEqual([outcome.executionId])
  await runner.goodbye()
})

test('a run that fails ends as ERROR with its explanation', async () => {
  const runner = await system.runner({ runs: () => ({ case: 'failed', value: { explanation: 'Error: no', line: 7 } }) })
  const outcome = await system.run()
  expect(outcome).toMatchObject({ status: Status.ERROR, explanation: 'Error: no', errorLine: 7 })
  // Of the row, as who asks elsewhere or later is told.
  const { executionId } = outcome
  const again = await system.executions.awaitExecution({ executionId, waitMs: 5000 }, userContext('demo'))
  expect(again).toMatchObject({ status: Status.ERROR, explanation: 'Error: no', errorLine: 7 })
  const { timeline } = await system.get(outcome.executionId)
  expect(timeline.at(-1)).toMatchObject({ status: Status.ERROR, explanation: 'Error: no' })
  await runner.goodbye()
})

test('without a runner a run waits in the queue and says why; the first slot takes it', async () => {
  const waits = await system.run('demo', {}, 1)
  expect(waits.explanation).toMatch(/^Place 1 in the team's queue in the pool default: no runner of the pool default/)
  await system.executions.killExecution({ id: waits.executionId }, userContext('demo'))
  const id = await system.start()
  const queued = await system.get(id)
  expect(queued.status).toBe(Status.QUEUED)
  expect(queued.timeline.at(-1)?.explanation).toMatch(
    /^Place 1 in the team's queue in the pool default: no runner of the pool default/,
  )
  const runner = await system.runner({ runs: () => nothing })
  const ended = await system.ended(id)
  expect(ended.timeline.map(({ status }) => status)).toEqual([
    Status.CREATED,
    Status.QUEUED,
    Status.DEQUEUED,
    Status.RUNNING,
    Status.FINISHED,
  ])
  await runner.goodbye()
})
