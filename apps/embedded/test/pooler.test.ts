import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testDatabase, until, type TestDatabase } from '@automation/testing'
import { hasPgBouncer, startPgBouncer, type PgBouncer } from '@automation/testing/pgbouncer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownEnvironment, servicesMain, startProgram, type RunningProgram, type Values } from './started.ts'

interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

describe.skipIf(!hasPgBouncer)('the services through PgBouncer in transaction mode, 20 connections in all', () => {
  let database: TestDatabase
  let pooler: PgBouncer
  let values: Values
  let system: RunningProgram
  let remove: () => Promise<void>
  let authorization: string

  beforeAll(async () => {
    database = await testDatabase()
    pooler = await startPgBouncer(database.url, 20)
    const own = await ownEnvironment()
    remove = own.remove
    values = { ...own.values, DATABASE_URL: pooler.url }
    system = startProgram(servicesMain, values)
    await system.said('hi?name=world')
    const apiToken = await readFile(join(values['DATA_DIR']!, 'bootstrap-token'), 'utf8')
    const { body } = await call('POST', '/auth/token', undefined, { 'x-api-token': apiToken.trim() })
    authorization = `Bearer ${body.access_token}`
  })
  afterAll(async () => {
    system?.child.kill('SIGKILL')
    await system?.ended
    await pooler?.stop()
    await database?.drop()
    await remove?.()
  })

  async function call(method: string, path: string, json?: unknown, headers: Values = { authorization }) {
    const response = await fetch(`http://127.0.0.1:${values['PORT']}/api/demo/rest${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) } satisfies Answer
  }

  const make = (name: string, sourceCode: string) => call('POST', '/processes', { name, sourceCode })
  const ended = (id: string) =>
    until(async () => {
      const { body } = await call('GET', `/executions/${id}`)
      return ['FINISHED', 'ERROR', 'KILLED'].includes(body.status) ? body : undefined
    })

  test('runs answer, log and are killed, and schedules fire', async () => {
    expect(await make('sum', 'console.log("adding"); return svc.context.parameters.a + 1')).toMatchObject({
      status: 201,
    })
    await make('sleeper', 'await new Promise((resolve) => setTimeout(resolve, 60_000))')
    const sync = await call('POST', '/processes/sum/execute-sync', { parameters: { a: 1 } })
    expect(sync).toMatchObject({ status: 203 })
    expect(JSON.stringify(sync.body)).toContain('2')
    const some = await Promise.all(
      Array.from({ length: 20 }, (_, a) => call('POST', '/processes/sum/execute', { parameters: { a } })),
    )
    const runs = await Promise.all(some.map(({ body }) => ended(body.executionId)))
    expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 'FINISHED'))
    const logs = await call('GET', `/executions/${runs[0].id}/logs`)
    expect(JSON.stringify(logs.body)).toContain('adding')
    const slow = (await call('POST', '/processes/sleeper/execute')).body.executionId
    expect((await call('PUT', `/executions/${slow}/kill`)).status).toBeLessThan(300)
    expect(await ended(slow)).toMatchObject({ status: 'KILLED' })
    const schedule = { dateTime: new Date(Date.now() + 1500).toISOString() }
    expect((await call('POST', '/processes/sum/schedule', schedule)).status).toBe(201)
    // One more than those that were started above.
    const byTheSchedule = async () => (await call('GET', '/executions?limit=50')).body.data.length === 23
    await until(byTheSchedule)
  })
})
