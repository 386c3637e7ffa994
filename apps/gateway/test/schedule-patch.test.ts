import type { UpdateScheduleRequest } from '@automation/contract/schedule/v1/schedule'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCHEDULE_ID } from './contract-servers.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

describe('a change of a schedule (merge patch)', () => {
  const patched = async (body: unknown) => {
    expect((await gateway.rest('PATCH', `/schedules/${SCHEDULE_ID}`, body)).status).toBe(200)
    return gateway.servers.last<UpdateScheduleRequest>('updateSchedule')
  }
  const maskOf = async (body: unknown) => (await patched(body)).mask?.paths
  const settingPaths = ['agent_pool', 'callback_url', 'timeout_ms', 'fresh_process'].map(
    (name) => `input.settings.${name}`,
  )

  test('what is absent stays', async () => {
    expect(await maskOf({})).toEqual([])
    expect(await maskOf({ input: {} })).toEqual([])
    expect(await maskOf({ input: { settings: {} } })).toEqual([])
  })

  test('the input and its settings merge field by field', async () => {
    const request = await patched({ input: { comment: 'new', settings: { timeout: 5000 } } })
    expect(request.mask?.paths).toEqual(['input.comment', 'input.settings.timeout_ms'])
    expect(request).toMatchObject({ id: SCHEDULE_ID, input: { comment: 'new', settings: { timeoutMs: 5000 } } })
  })

  test('one time instead of a cron, and a cron instead of one time', async () => {
    const oneTime = await patched({ dateTime: '2030-01-01T10:00:00+02:00' })
    expect(oneTime).toMatchObject({ mask: { paths: ['date_time'] }, dateTime: { text: '2030-01-01T10:00:00+02:00' } })
    const periodic = await patched({ cron: '@x', dateTime: null })
    expect(periodic).toMatchObject({ mask: { paths: ['cron', 'date_time'] }, cron: '@x' })
    expect(periodic.dateTime).toBeUndefined()
  })

  test('null clears what it names, "" likewise', async () => {
    for (const nothing of [null, '']) {
      const input = { tag: nothing, comment: nothing, parameters: nothing, settings: { callbackUrl: nothing } }
      const request = await patched({ input })
      expect(request.mask?.paths.toSorted()).toEqual([
        'input.comment',
        'input.parameters',
        'input.settings.callback_url',
        'input.tag',
      ])
      expect(request.input).toMatchObject({ tag: '', settings: { freshProcess: false } })
      expect([request.input?.comment, request.input?.settings?.callbackUrl]).toEqual([undefined, undefined])
    }
  })

  test('null for whether it is paused, or may run beside itself, counts as absent', async () => {
    expect(await maskOf({ allowConcurrentExecutions: null, paused: null })).toEqual([])
    expect(await maskOf({ allowConcurrentExecutions: false, paused: null })).toEqual(['allow_concurrent_executions'])
  })

  test('a cron and whether it is paused go in one call', async () => {
    for (const paused of [true, false]) {
      const request = await patched({ cron: '0 8 * * *', paused })
      expect(request).toMatchObject({ mask: { paths: ['cron', 'paused'] }, cron: '0 8 * * *', paused })
    }
  })

  test('null for all settings, or for the whole input, clears each of their fields', async () => {
    expect(await maskOf({ input: { settings: null } })).toEqual(settingPaths)
    expect(await maskOf({ input: null })).toEqual(['input.tag', 'input.parameters', 'input.comment', ...settingPaths])
  })
})
