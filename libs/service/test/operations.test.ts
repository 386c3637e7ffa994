import { Health, serveOperations, createMetrics, type Check, type OperationsServer } from '@automation/service'
import { afterEach, beforeEach, expect, test } from 'vitest'

let health: Health
let server: OperationsServer

beforeEach(async () => {
  health = new Health()
  server = await serveOperations({ host: '127.0.0.1', port: 0 }, health, createMetrics())
})
afterEach(() => server.close())

async function ask(path: string, init?: RequestInit) {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, init)
  return { status: response.status, text: await response.text() }
}

async function readyz() {
  const { status, text } = await ask('/readyz')
  return { http: status, ...(JSON.parse(text) as { status: string; checks: Check[] }) }
}

test('a process is live while it starts, and ready when it started and all its checks are well', async () => {
  let ok = true
  health.watch('database', async () => [{ name: 'database', ok }])
  expect((await ask('/livez')).status).toBe(200)
  expect(await readyz()).toMatchObject({ http: 503, status: 'starting' })
  health.started()
  expect(await readyz()).toEqual({ http: 200, status: 'ready', checks: [{ name: 'database', ok: true }] })
  ok = false
  expect(await readyz()).toMatchObject({ http: 503, status: 'unready', checks: [{ name: 'database', ok: false }] })
})

test('a process that stops is not ready, and says so', async () => {
  health.started()
  health.stopping()
  expect(await readyz()).toMatchObject({ http: 503, status: 'stopping' })
  expect((await ask('/livez')).status).toBe(200)
})

test('a check that throws or never answers counts as not well, and the others are told', async () => {
  health.watch('broken', () => Promise.reject(new Error('secret')))
  health.watch('stuck', () => new Promise(() => undefined))
  health.watch('well', async () => [{ name: 'well', ok: true }])
  health.started()
  const { checks, http } = await readyz()
  expect(http).toBe(503)
  expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
    ['broken', false],
    ['stuck', false],
    ['well', true],
  ])
  expect(JSON.stringify(checks)).not.toContain('secret')
})

test('metrics are told in the form of Prometheus', async () => {
  const { status, text } = await ask('/metrics')
  expect(status).toBe(200)
  expect(text).toMatch(/^process_resident_memory_bytes \d/m)
  expect(text).toMatch(/^# TYPE \w+ (counter|gauge|histogram)/m)
  for (const line of text.split('\n').filter((one) => one !== '' && !one.startsWith('#')))
    expect(line).toMatch(/^[a-zA-Z_:][a-zA-Z0-9_:]*(\{.*\})? (-?[\d.e+-]+|NaN|Nan|[+-]Inf)( \d+)?$/)
})

test('anything else is not found, whatever the method', async () => {
  expect((await ask('/')).status).toBe(404)
  expect((await ask('/readyz', { method: 'POST', body: 'x' })).status).toBe(404)
  expect((await ask('/livez', { method: 'HEAD' })).status).toBe(200)
})
