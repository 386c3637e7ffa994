import { Origin, Status } from '@automation/contract/execution/v1/execution'
import type { Failure } from '@automation/errors'
import { userContext } from '@automation/testing'
import bcrypt from 'bcryptjs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Attempts } from '@automation/passwords/attempts'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start()
  await system.runner({
    runs: (run) => value(run.request === undefined ? null : JSON.parse(Buffer.from(run.request).toString())),
  })
  const webhook = { enabled: true, username: 'hook', passwordHash: await bcrypt.hash('right', 4) }
  system.catalog.put('open', { webhook: { enabled: true } })
  system.catalog.put('closed', { webhook: { enabled: false } })
  system.catalog.put('guarded', { webhook })
  system.catalog.put('guarded', { webhook }, 'v1')
  system.catalog.put('attacked', { webhook })
})
afterAll(() => system.stop())

const request = Buffer.from('{"method":"POST"}')

function call(
  identifier: string,
  credentials: { username?: string; password?: string } = {},
  tag = '',
  ip = '192.0.2.1',
) {
  const start = { identifier, tag, webhook: { request, ...credentials } }
  return system.executions.runExecution({ start, waitMs: 5000 }, userContext('demo', { ip }))
}

test('an enabled webhook starts its process, which sees the request; its run belongs to `webhook`', async () => {
  const outcome = await call('open')
  expect(outcome.status).toBe(Status.FINISHED)
  expect(Buffer.from(outcome.returnValue!).toString()).toBe('{"method":"POST"}')
  expect(await system.get(outcome.executionId)).toMatchObject({ createdBy: 'webhook', origin: Origin.WEBHOOK })
})

test('an unknown and a disabled webhook answer the same, with and without a version', async () => {
  for (const [identifier, tag] of [
    ['closed', ''],
    ['absent', ''],
    ['closed', 'nope'],
    ['absent', 'nope'],
  ] as const)
    await expect(call(identifier, {}, tag)).rejects.toMatchObject({ kind: 'not_found', code: 'webhook_not_found' })
})

test.for([
  [
    ['192.0.2.0/24'],
    ['192.0.2.1', '192.0.2.255', '::ffff:192.0.2.9', '::FFFF:C000:0209'],
    ['192.0.3.1', '2001:db8::1'],
  ],
  [['192.0.2.7'], ['192.0.2.7'], ['192.0.2.6', '::7']],
  [['::ffff:10.0.0.0/104'], ['10.1.2.3'], ['11.0.0.0']],
  [
    ['2001:db8::/32', '10.0.0.0/8'],
    ['2001:DB8:ffff::1', '10.255.0.1'],
    ['2001:db9::', '9.0.0.1', '::a00:1'],
  ],
  [['fe80::/10'], ['fe80::1%eth0'], ['fec0::1', '192.0.2.1']],
  [['::/0'], ['::1'], ['192.0.2.1']],
  [['0.0.0.0/0'], ['192.0.2.1'], ['::1']],
] as const)('where a webhook may be called from %j, others hear that there is none', async ([list, from, notFrom]) => {
  const slug = `from ${list.join()}`
  system.catalog.put(slug, { webhook: { enabled: true, allowedAddresses: [...list] } })
  for (const ip of from) expect((await call(slug, {}, '', ip)).status, ip).toBe(Status.FINISHED)
  const absent = await call('absent').catch((error: Error) => error)
  for (const tag of ['', 'nope'])
    for (const ip of [...notFrom, ''])
      expect(await call(slug, {}, tag, ip).catch((error: Error) => error), ip).toEqual(absent)
})

test('credentials are not looked at where a webhook may not be called from', async () => {
  const webhook = { enabled: true, username: 'hook', passwordHash: await bcrypt.hash('right', 4) }
  system.catalog.put('inside', { webhook: { ...webhook, allowedAddresses: ['10.0.0.0/8'] } })
  for (const credentials of [{}, { username: 'hook', password: 'right' }])
    await expect(call('inside', credentials)).rejects.toMatchObject({ code: 'webhook_not_found' })
  expect((await call('inside', { username: 'hook', password: 'right' }, '', '10.0.0.1')).status).toBe(Status.FINISHED)
  await expect(call('inside', {}, '', '10.0.0.1')).rejects.toMatchObject({ code: 'webhook_credentials' })
})

test('credentials are asked for and checked; the run belongs to their user name', async () => {
  for (const credentials of [
    {},
    { username: 'hook' },
    { username: 'hook', password: 'wrong' },
    { username: 'other', password: 'right' },
  ])
    await expect(call('guarded', credentials)).rejects.toMatchObject({
      kind: 'unauthenticated',
      code: 'webhook_credentials',
    })
  const right = { username: 'hook', password: 'right' }
  const { executionId } = await call('guarded', right)
  expect((await system.get(executionId)).createdBy).toBe('hook')
  await expect(call('guarded', right, 'nope')).rejects.toMatchObject({ code: 'version_not_found' })
  await expect(call('guarded', {}, 'nope')).rejects.toMatchObject({ code: 'webhook_credentials' })
  expect((await call('guarded', right, 'v1')).status).toBe(Status.FINISHED)
})

test('a changed password counts at once, and the old one no more', async () => {
  system.catalog.put('changing', {
    webhook: { enabled: true, username: 'u', passwordHash: await bcrypt.hash('old', 4) },
  })
  expect((await call('changing', { username: 'u', password: 'old' })).status).toBe(Status.FINISHED)
  system.catalog.put('changing', {
    webhook: { enabled: true, username: 'u', passwordHash: await bcrypt.hash('new', 4) },
  })
  await expect(call('changing', { username: 'u', password: 'old' })).rejects.toMatchObject({
    code: 'webhook_credentials',
  })
  expect((await call('changing', { username: 'u', password: 'new' })).status).toBe(Status.FINISHED)
})

test('ten failures a minute from one address, also at the same time, and it has to wait; others need not', async () => {
  const codes: string[] = []
  // No more than four of them are checked at the same time.
  for (let wave = 0; wave < 3; wave++) {
    const wrong = Array.from({ length: 14 }, (_, index) =>
      call('attacked', { username: 'hook', password: `guess ${wave} ${index}` }),
    )
    for (const one of await Promise.allSettled(wrong)) codes.push((one as PromiseRejectedResult).reason.code)
  }
  expect(codes.filter((code) => code === 'webhook_credentials')).toHaveLength(10)
  expect(codes.filter((code) => code === 'too_many_attempts')).toHaveLength(32)
  const right = { username: 'hook', password: 'right' }
  const refused = await call('attacked', right).catch((error: Failure) => error)
  expect(refused).toMatchObject({ kind: 'resource_exhausted' })
  // What is left of a minute.
  expect((refused as Failure).retryAfterS).toBeGreaterThan(30)
  expect((refused as Failure).retryAfterS).toBeLessThanOrEqual(60)
  expect((await call('attacked', right, '', '192.0.2.2')).status).toBe(Status.FINISHED)
  expect((await call('guarded', right)).status).toBe(Status.FINISHED)
})

test('any number of right calls at the same time pass, though the password is not known yet', async () => {
  const webhook = { enabled: true, username: 'hook', passwordHash: await bcrypt.hash('fresh', 4) }
  system.catalog.put('burst', { webhook })
  const calls = Array.from({ length: 25 }, () => call('burst', { username: 'hook', password: 'fresh' }))
  for (const { status } of await Promise.all(calls)) expect(status).toBe(Status.FINISHED)
})

test('the same wrong password counts each time, also at the same time', async () => {
  const webhook = { enabled: true, username: 'hook', passwordHash: await bcrypt.hash('right', 4) }
  system.catalog.put('hammered', { webhook })
  const calls = Array.from({ length: 14 }, () => call('hammered', { username: 'hook', password: 'wrong' }))
  const codes = (await Promise.allSettled(calls)).map((one) => (one as PromiseRejectedResult).reason.code)
  expect(codes.filter((code) => code === 'webhook_credentials')).toHaveLength(10)
  expect(codes.filter((code) => code === 'too_many_attempts')).toHaveLength(4)
})

test('failures are forgotten after a minute, and successes do not count', () => {
  let now = 0
  const attempts = new Attempts(() => now)
  for (let count = 0; count < 50; count++) attempts.begin('a', 'p').undo()
  for (let count = 0; count < 10; count++) attempts.begin('a', 'p')
  now = 30_000
  expect(() => attempts.begin('a', 'p')).toThrow(expect.objectContaining({ retryAfterS: 30 }))
  now = 60_001
  expect(() => attempts.begin('a', 'p')).not.toThrow()
})

test('authorization is shown to the process where its webhook has no credentials, and hidden where it has', async () => {
  const seen = async (identifier: string, authorization: string, credentials = {}) => {
    const webhook = { request: Buffer.from('{"headers":{"x-a":"1"}}'), authorization, ...credentials }
    const outcome = await system.executions.runExecution(
      { start: { identifier, webhook }, waitMs: 5000 },
      userContext('demo', { ip: '192.0.2.1' }),
    )
    return JSON.parse(Buffer.from(outcome.returnValue!).toString()) as unknown
  }
  expect(await seen('open', 'Bearer own')).toEqual({ headers: { 'x-a': '1', authorization: 'Bearer own' } })
  expect(await seen('open', 'Basic dTpw', { username: 'u', password: 'p' })).toEqual({
    headers: { 'x-a': '1', authorization: 'Basic dTpw' },
  })
  expect(await seen('guarded', 'Basic x', { username: 'hook', password: 'right' })).toEqual({ headers: { 'x-a': '1' } })
})

test.each([
  ['{"x-a":"1"}', '{"authorization":"Bearer \\"own\\"","x-a":"1"}'],
  ['{}', '{"authorization":"Bearer \\"own\\""}'],
])(
  'authorization is added to the headers %s of a request of which all else stays as it was written',
  async (headers, shown) => {
    const rest = String.raw`,"query":{"2":"b","1":"a"},"rawBody":"\u0041\/"}`
    const webhook = { request: Buffer.from(`{"headers":${headers}${rest}`), authorization: 'Bearer "own"' }
    const id = await system.start('demo', { identifier: 'open', webhook })
    expect(await system.rows('SELECT request FROM executions WHERE id = $1', [id])).toEqual([
      { request: `{"headers":${shown}${rest}` },
    ])
  },
)
