import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@automation/testing'
import { beforeAll, expect, test } from 'vitest'
import type { Values } from './started.ts'

interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

/** The test of all that goes through a pooler of connections, for services behind one that have been started when it begins. */
export function testPooled(valuesOf: () => Values): void {
  let authorization: string

  beforeAll(async () => {
    const apiToken = await readFile(join(valuesOf()['DATA_DIR']!, 'bootstrap-token'), 'utf8')
    const { body } = await call('POST', '/auth/token', undefined, { 'x-api-token': apiToken.trim() })
    authorization = `Bearer ${body.access_token}`
  })

  async function call(method: string, path: string, json?: unknown, headers: Values = { authorization }) {
    const response = await fetch(`http://127.0.0.1:${valuesOf()['PORT']}/api/demo/rest${path}`, {
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
    const sum = await make('sum', 'console.log("adding"); return svc.context.parameters.a + 1')
    expect(sum).toMatchObject({ status: 201 })
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
    const runsOfIt = `/executions?limit=50&processId=${sum.body.id}`
    const byTheSchedule = async () => (await call('GET', runsOfIt)).body.data.length === 22
    await until(byTheSchedule)
  })
}
