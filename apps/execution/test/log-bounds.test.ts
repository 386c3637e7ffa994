import { LogLevel, type LogEntry } from '@automation/contract/execution/v1/execution'
import { TeamPoolService } from '@automation/contract/execution/v1/team_pool'
import { ownContext } from '@automation/rpc'
import { userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chunkBody, chunkWeight } from '../src/store/log-chunks.ts'
import { value, type ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'

const operator = () => ownContext({ role: 'operator', team: '', subject: 'operator', name: 'olga' }, 10_000)
const limitReached = 'The log has reached its limit (10 lines, 1000 bytes): the rest was dropped'
/** Longer than all that is taken where runners keep to 1,000 characters. */
const tooLong = 'x'.repeat(1_200_000)
const open = { slots: 4, runs: () => undefined }

let system: System
/** With the token of a pool of the team `acme`. */
let outside: ScriptedRunner
let ofNetwork: ScriptedRunner

beforeAll(async () => {
  system = await System.start({ logMaxLines: 10, logMaxBytes: 1000 })
  const pools = system.replicas[0]!.network.client(TeamPoolService)
  await pools.createPool({ name: 'plant', team: 'acme' }, operator())
  const { text: poolToken } = await pools.createPoolToken({ pool: 'plant' }, operator())
  outside = await system.runner({ ...open, poolToken })
  ofNetwork = await system.runner(open)
})
afterAll(async () => {
  await system.dismissRunners()
  await system.stop()
})

const inPool = { settings: { agentPool: 'plant' } }

async function started(runner: ScriptedRunner, options: object = {}): Promise<string> {
  const id = await system.start('acme', options)
  await runner.run(id)
  return id
}

/** The runner `by` sends lines of a run that `of` has. */
function log(id: string, first: number, messages: string[], by = outside, of = by): void {
  const { fence } = of.started.find(({ executionId }) => executionId === id)!
  const entries = messages.map((message) => ({ timeUs: 1n, level: LogLevel.INFO, message }))
  by.say({ case: 'logs', value: { executionId: id, fence, chunk: { first, entries } } })
}

async function ended(runner: ScriptedRunner, id: string): Promise<string[]> {
  runner.finish(id, value(1))
  return linesOfEnded(id)
}

async function linesOfEnded(id: string): Promise<string[]> {
  await system.ended(id, 'acme')
  const page = { page: 0, limit: 100 }
  const { entries } = await system.executions.listLogs({ executionId: id, page }, userContext('acme'))
  return entries.map(({ message }) => message)
}

test.each([
  ['characters', 1, [tooLong]],
  ['lines', 1100, ['far beyond']],
])(
  'of a runner with a pool token no more %s of a log are taken than it may have, and the run can be ended',
  async (_, ...chunk) => {
    const id = await started(outside, inPool)
    log(id, 0, ['first'])
    log(id, ...chunk)
    log(id, 2, ['later'])
    expect(await ended(outside, id)).toEqual(['first', limitReached])
  },
)

test('of lines that come together as many are taken as there may be', async () => {
  const id = await started(outside, inPool)
  log(id, 0, ['first'])
  log(
    id,
    1,
    Array.from({ length: 1100 }, () => 'more'),
  )
  outside.finish(id, value(1))
  await system.ended(id, 'acme')
  const page = { page: 0, limit: 1 }
  const { page: all } = await system.executions.listLogs({ executionId: id, page }, userContext('acme'))
  expect(all!.total).toBe(1021)
})

test('of what comes with the result of a run whose log is too long, only the word on its error is taken', async () => {
  const [full, long] = [await started(outside, inPool), await started(outside, inPool)]
  log(full, 0, ['first'])
  log(full, 1, [tooLong])
  for (const id of [full, long]) {
    const { fence } = outside.started.find(({ executionId }) => executionId === id)!
    const end = { case: 'failed' as const, value: { explanation: 'Error: no' } }
    const entries = [
      { timeUs: 1n, level: LogLevel.INFO, message: tooLong },
      { timeUs: 1n, level: LogLevel.ERROR, message: 'Error: no' },
    ]
    outside.say({ case: 'result', value: { executionId: id, fence, end, lastLogs: { first: 2, entries } } })
  }
  expect(await linesOfEnded(full)).toEqual(['first', limitReached, 'Error: no'])
  expect(await linesOfEnded(long)).toEqual([limitReached, 'Error: no'])
})

test('lines that a runner with a pool token sends again are stored once; under numbers of their own they count', async () => {
  const id = await started(outside, inPool)
  log(id, 0, ['first', 'second'])
  log(id, 0, ['first', 'second'])
  log(id, 2, ['third'])
  for (let n = 3; n <= 7; n += 1) log(id, n, ['x'.repeat(300_000)])
  expect((await ended(outside, id)).filter((line) => !line.startsWith('x'))).toEqual([
    'first',
    'second',
    'third',
    limitReached,
  ])
})

test('such a runner uses up nothing of what runs of others may log, and these are bounded by their runners alone', async () => {
  const id = await started(ofNetwork)
  log(id, 0, [tooLong], outside, ofNetwork)
  log(id, 0, ['theirs'], outside, ofNetwork)
  log(id, 0, [tooLong], ofNetwork)
  log(id, 1, ['after that'], ofNetwork)
  expect(await ended(ofNetwork, id)).toEqual([tooLong, 'after that'])
})

test.each([
  ['letters', 'a'],
  ['an alphabet', '漢'],
  ['emoji', '😀'],
  ['lines', '\n'],
  ['NUL', '\0'],
  ['escapes', '\x1b'],
])('what is written at once is bounded by what lines take as JSON: %s', (_, character) => {
  const entries = [{ timeUs: 0n, level: LogLevel.INFO, message: character.repeat(10_000) } as LogEntry]
  expect(Buffer.byteLength(chunkBody(entries))).toBeLessThanOrEqual(3 * chunkWeight({ entries }))
})
