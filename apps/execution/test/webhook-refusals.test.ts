import { Status } from '@automation/contract/execution/v1/execution'
import { Failure } from '@automation/errors'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { serviceContext, until, userContext } from '@automation/testing'
import bcrypt from 'bcryptjs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System
const ids: Record<string, string> = {}

beforeAll(async () => {
  system = await System.start({}, 2)
  await system.runner({ runs: () => value('done') })
  const passwordHash = await bcrypt.hash('right', 4)
  const put = (name: string, webhook: object) => (ids[name] = system.catalog.put(name, { webhook }))
  put('open', { enabled: true })
  put('late', { enabled: false })
  put('soon', { enabled: false })
  put('closed', { enabled: false })
  put('doomed', { enabled: false })
  put('flooded', { enabled: false })
  put('shared', { enabled: false })
  put('quick', { enabled: false })
  put('asked', { enabled: false })
  put('guarded', { enabled: true, username: 'hook', passwordHash })
  put('walled', { enabled: true, allowedAddresses: ['192.0.2.7'] })
})
afterAll(() => system.stop())

interface Call {
  method?: string
  username?: string
  password?: string
  tag?: string
  parameters?: string
  replica?: number
}

function call(identifier: string, options: Call = {}) {
  const { method = 'POST', tag = '', parameters = '{}', replica = 0, ...credentials } = options
  const webhook = { request: Buffer.from('{"method":"POST"}'), method, bodyBytes: 7n, ...credentials }
  const start = { identifier, tag, parameters: Buffer.from(parameters), webhook }
  const context = userContext('demo', { ip: '192.0.2.1' })
  return system.replicas[replica]!.executions.runExecution({ start, waitMs: 5000 }, context)
}

async function list(name: string, team = 'demo') {
  const { deliveries } = await system.executions.listWebhookDeliveries({ processId: ids[name]! }, userContext(team))
  return deliveries
}

async function reasons(name: string) {
  const found = await list(name)
  return found.map(({ outcome }) =>
    outcome.case === 'refusal' ? `${outcome.value.code}: ${outcome.value.reason}` : 'run',
  )
}

test('a call that was refused is in the list that is read next', async () => {
  await expect(call('soon')).rejects.toBeInstanceOf(Failure)
  expect(await reasons('soon')).toEqual(['webhook_not_found: The webhook is not enabled'])
  for (let n = 2; n <= 5; n += 1) {
    await Promise.all([expect(call('soon')).rejects.toBeInstanceOf(Failure), list('soon')])
    expect(await list('soon')).toHaveLength(n)
  }
})

const rowsOf = async (name: string) =>
  (await system.rows('SELECT 1 FROM webhook_refusals WHERE process_id = $1', [ids[name]])).length

test('refused calls are listed beside those that were not, newest first and each with its reason', async () => {
  await expect(call('guarded')).rejects.toBeInstanceOf(Failure)
  await expect(call('guarded', { username: 'hook', password: 'wrong' })).rejects.toBeInstanceOf(Failure)
  const { executionId } = await call('guarded', { username: 'hook', password: 'right' })
  await expect(call('guarded', { username: 'hook', password: 'right', tag: 'nope' })).rejects.toBeInstanceOf(Failure)
  await expect(call('guarded', { username: 'hook', password: 'right', parameters: '[]' })).rejects.toBeInstanceOf(
    Failure,
  )
  await until(async () => (await list('guarded')).length === 5)
  expect(await reasons('guarded')).toEqual([
    expect.stringMatching(/^invalid_input: .+/),
    expect.stringMatching(/^version_not_found: .+/),
    'run',
    'webhook_credentials: The user name or the password was wrong',
    'webhook_credentials: The call had no user name and password',
  ])
  const [, , run] = await list('guarded')
  expect(run).toMatchObject({
    id: executionId,
    method: 'POST',
    bodyBytes: 7n,
    outcome: { value: { status: Status.FINISHED, answeredAtOnce: false, returnValue: Buffer.from('"done"') } },
  })
  expect(await list('guarded', 'other')).toEqual([])
})

test('the team is told why there seemed to be no webhook; of a process that there is not nothing is kept', async () => {
  for (const name of ['closed', 'walled', 'absent'])
    await expect(call(name)).rejects.toMatchObject({ code: 'webhook_not_found' })
  await until(async () => (await rowsOf('walled')) === 1 && (await rowsOf('closed')) === 1)
  expect(await reasons('closed')).toEqual(['webhook_not_found: The webhook is not enabled'])
  expect(await reasons('walled')).toEqual(['webhook_not_found: The address 192.0.2.1 is not among the allowed ones'])
  const known = Object.values(ids)
  expect(await system.rows('SELECT 1 FROM webhook_refusals WHERE process_id <> ALL ($1::uuid[])', [known])).toEqual([])
})

test('refused calls of one millisecond are listed in their order', async () => {
  const methods = Array.from({ length: 40 }, (_, n) => `M${n}`)
  await Promise.all(methods.map((method) => expect(call('quick', { method })).rejects.toBeInstanceOf(Failure)))
  await until(async () => (await rowsOf('quick')) === methods.length)
  expect((await list('quick')).map(({ method }) => method)).toEqual(methods.toReversed())
})

test('a process whose webhook refuses calls is read once by its slug and once by its id', async () => {
  const id = ids['asked']!
  const refusal = { kind: 'too_large', code: 'body_too_large', reason: 'Too large' }
  const note = { identifier: 'asked', method: 'PUT', bodyBytes: 1n, refusal }
  system.catalog.read.splice(0)
  for (let n = 0; n < 3; n += 1) {
    for (const name of [id, id.toUpperCase()]) await expect(call(name)).rejects.toBeInstanceOf(Failure)
    await system.replicas[0]!.executions.noteWebhookRefusal(note, serviceContext('gateway', 'demo'))
    await expect(call('asked', { tag: `nope-${n}` })).rejects.toBeInstanceOf(Failure)
  }
  expect(system.catalog.read).toEqual(['demo asked', 'demo asked'])
})

test('what the gateway has refused is kept, too, of the processes that the team has', async () => {
  const note = (identifier: string) => {
    const refusal = { kind: 'too_large', code: 'body_too_large', reason: 'Too large' }
    const request = { identifier, method: 'PUT', bodyBytes: 2n ** 64n - 1n, refusal }
    return system.executions.noteWebhookRefusal(request, serviceContext('gateway', 'demo'))
  }
  await note('open')
  await expect(note('absent')).rejects.toMatchObject({ code: 'process_not_found' })
  await until(async () => (await rowsOf('open')) === 1)
  expect(await list('open')).toMatchObject([{ method: 'PUT', bodyBytes: 2n ** 53n }])
})

test('a refused call stands where it came, however late its note is; a clock that is far off is not believed', async () => {
  const note = (code: string, refusedAtMs: number) => {
    const refusal = { kind: 'invalid_argument', code, reason: 'No' }
    const request = {
      identifier: 'late',
      method: 'PUT',
      bodyBytes: 0n,
      refusal,
      refusedAt: timestampFromMs(refusedAtMs),
    }
    return system.executions.noteWebhookRefusal(request, serviceContext('gateway', 'demo'))
  }
  const nowMs = Date.now()
  await note('second', nowMs - 1000)
  await note('first', nowMs - 2000)
  await note('stray', nowMs - 86_400_000)
  await until(async () => (await rowsOf('late')) === 3)
  expect(await reasons('late')).toEqual(['stray: No', 'second: No', 'first: No'])
})

test('a flood leaves the last hundred rows, and no more are written in a minute at a replica', async () => {
  const metrics = system.replicas[0]!.metrics.getSingleMetric('execution_webhook_refusals_total')!
  const dropped = async () =>
    (await metrics.get()).values.find(({ labels }) => labels['outcome'] === 'dropped')?.value ?? 0
  const before = await dropped()
  for (let count = 0; count < 300; count++) await expect(call('flooded')).rejects.toBeInstanceOf(Failure)
  expect((await dropped()) - before).toBe(200)
  await until(async () => (await rowsOf('flooded')) === 100)
  for (const replica of [0, 1])
    for (let count = 0; count < 80; count++) await expect(call('shared', { replica })).rejects.toBeInstanceOf(Failure)
  await until(async () => (await rowsOf('shared')) === 100)
})

test('the rows go with their process, and none comes later', async () => {
  await expect(call('doomed')).rejects.toBeInstanceOf(Failure)
  await until(async () => (await rowsOf('doomed')) === 1)
  await expect(call('doomed')).rejects.toBeInstanceOf(Failure)
  const request = { team: 'demo', processId: ids['doomed']! }
  await system.executions.deleteProcessExecutions(request, serviceContext('process-catalog'))
  await until(async () => (await rowsOf('doomed')) === 0)
  await expect(call('doomed')).rejects.toBeInstanceOf(Failure)
  await expect(call('closed')).rejects.toBeInstanceOf(Failure)
  await until(async () => (await rowsOf('closed')) === 2)
  expect(await rowsOf('doomed')).toBe(0)
})
