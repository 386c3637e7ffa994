import { RunnerOperatorService, type Runner } from '@automation/contract/execution/v1/runner_operator'
import { notFound, unavailable } from '@automation/errors'
import { InProcessNetwork, served, type Client } from '@automation/rpc'
import { expect, test } from 'vitest'
import { drainRunner } from '../src/runners.ts'
import type { Target } from '../src/target.ts'

type Look = () => { runners: Partial<Runner>[] }

/** The execution of a cell, which answers a look after the other so, and then always as the last time. */
function cell(drain: () => object, ...looks: Look[]): Client<typeof RunnerOperatorService> {
  const network = new InProcessNetwork()
  const handlers = {
    drainRunner: async () => drain(),
    listRunners: async () => (looks.length > 1 ? looks.shift()! : looks[0]!)() as { runners: Runner[] },
  }
  network.add([served(RunnerOperatorService, handlers)])
  return network.client(RunnerOperatorService)
}

const away = () => {
  throw unavailable('Not now')
}
const none: Look = () => ({ runners: [] })

test('a runner whose cell is away for a while has not ended by that', async () => {
  const runs =
    (running: number): Look =>
    () => ({ runners: [{ id: 'one', running }] })
  const cells = new Map([
    [
      '',
      cell(() => {
        throw notFound('runner')
      }, none),
    ],
    ['blue', cell(() => ({}), runs(7), away, away, runs(7), none)],
  ])
  const target = { inCells: () => cells } as unknown as Target
  const told: string[] = []
  const answer = await drainRunner(target, 'one', { wait: true, tell: (text) => told.push(text) })
  expect(answer.json).toEqual({ id: 'one', draining: true, ended: true })
  expect(told).toEqual([
    'Runs that are not over: 7.',
    'The cell blue does not answer: Not now',
    'Runs that are not over: 7.',
  ])
})
