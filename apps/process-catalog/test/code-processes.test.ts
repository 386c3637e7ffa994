import { CodeService } from '@automation/contract/catalog/v1/code'
import { Language } from '@automation/contract/common/v1/language'
import { unavailable } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import { until, refusal } from '@automation/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const code = () => catalog.client(CodeService)
const take = (caller: CallContext, sourceCode: string, more: object = {}) =>
  code().takeProcess({ language: Language.JAVASCRIPT, sourceCode, ...more }, caller)
const release = (caller: CallContext, useId: string, runGoesOn = false) =>
  code().releaseProcess({ useId, runGoesOn }, caller)
const find = (caller: CallContext, identifier: string) => catalog.processes.getProcess({ identifier }, caller)

test('a code has one process, whoever takes it at the same time; another language or other packages make another', async () => {
  const caller = await catalog.team()
  const taken = await Promise.all(Array.from({ length: 8 }, () => take(caller, 'return 1')))
  const [processId = ''] = new Set(taken.map((one) => one.processId))
  expect(new Set(taken.map((one) => one.processId)).size).toBe(1)
  expect(new Set(taken.map((one) => one.useId)).size).toBe(8)
  expect(await find(caller, processId)).toMatchObject({ sourceCode: 'return 1', tags: ['run'] })
  const python = await take(caller, 'return 1', { language: Language.PYTHON })
  const packed = await take(caller, 'return 1', { dependencies: { ms: '^2.0.0' } })
  expect(new Set([processId, python.processId, packed.processId]).size).toBe(3)
  expect(await find(caller, packed.processId)).toMatchObject({
    dependencies: { ms: '^2.0.0' },
    settings: { dependenciesScopedToProcess: true },
  })
  expect((await take(await catalog.team(), 'return 1')).processId).not.toBe(processId)
})

test('a process goes with the last use that removes it, and its code gets another one later', async () => {
  const caller = await catalog.team()
  const [first, second] = [await take(caller, 'a', { removes: true }), await take(caller, 'a', { removes: true })]
  await release(await catalog.team(), first.useId)
  await release(caller, first.useId)
  await release(caller, first.useId)
  expect(await find(caller, first.processId)).toBeDefined()
  await release(caller, second.useId)
  expect(await refusal(find(caller, first.processId))).toBe('process_not_found')
  const again = await take(caller, 'a')
  expect(again.processId).not.toBe(first.processId)
  await release(caller, again.useId)
  expect(await find(caller, again.processId)).toBeDefined()
})

test('a process that somebody has used without removing it stays, as does one that was given a version', async () => {
  const caller = await catalog.team()
  const use = async (code: string, removes: boolean) => {
    const { useId, processId } = await take(caller, code, { removes })
    await release(caller, useId)
    return processId
  }
  const kept = await use('kept', false)
  expect(await use('kept', true)).toBe(kept)
  expect(await find(caller, kept)).toBeDefined()
  const { useId, processId } = await take(caller, 'published', { removes: true })
  await catalog.versions.publishVersion({ process: processId, tag: 'v1' }, caller)
  await release(caller, useId)
  expect(await find(caller, processId)).toBeDefined()
})

test('who takes and who removes a code at the same time never get in the way of each other', async () => {
  const caller = await catalog.team()
  const use = async () => {
    const { useId, processId } = await take(caller, 'b', { removes: true })
    expect(await find(caller, processId)).toBeDefined()
    await release(caller, useId)
  }
  await Promise.all(Array.from({ length: 6 }, use))
  expect((await catalog.processes.listProcesses({ tags: ['run'] }, caller)).processes).toEqual([])
})

test('the process of a run that goes on is removed once that is over, without anybody asking', async () => {
  const caller = await catalog.team()
  const { useId, processId } = await take(caller, 'c', { removes: true })
  await release(caller, useId, true)
  expect(await find(caller, processId)).toBeDefined()
  await catalog.sql('UPDATE process_uses SET until = now() WHERE id = $1', [useId])
  await until(async () => (await refusal(find(caller, processId)).catch(() => '')) === 'process_not_found')
})

test('a process whose source somebody has changed gets its own again', async () => {
  const caller = await catalog.team()
  const { processId } = await take(caller, 'd')
  const change = { identifier: processId, values: { sourceCode: 'other' }, mask: { paths: ['source_code'] } }
  await catalog.processes.updateProcess(change, caller)
  expect((await take(caller, 'd')).processId).toBe(processId)
  expect(await find(caller, processId)).toMatchObject({ sourceCode: 'd' })
})

describe('while execution is away', () => {
  afterEach(() => Object.assign(catalog.execution, { failure: undefined, failsFor: undefined }))
  const due = () => catalog.sql(`UPDATE process_uses SET until = now()`)
  const isGone = async (caller: CallContext, processId: string) =>
    (await refusal(find(caller, processId)).catch(() => '')) === 'process_not_found'

  test('a process stays, and is removed once it is there again', async () => {
    const caller = await catalog.team()
    const { useId, processId } = await take(caller, 'e', { removes: true })
    catalog.execution.failure = unavailable('away')
    expect(await refusal(release(caller, useId))).toBe('unavailable')
    expect(await find(caller, processId)).toBeDefined()
    catalog.execution.failure = undefined
    await due()
    await until(() => isGone(caller, processId))
  })

  test('for one team, the uses of others end', async () => {
    const [caller, other] = [await catalog.team(), await catalog.team()]
    const [{ processId }, { processId: others }] = [
      await take(caller, 'f', { removes: true }),
      await take(other, 'f', { removes: true }),
    ]
    Object.assign(catalog.execution, { failure: unavailable('away'), failsFor: caller.principal.team })
    await catalog.sql(`UPDATE process_uses SET until = now() - interval '1 s' * CASE team WHEN $1 THEN 2 ELSE 1 END`, [
      caller.principal.team,
    ])
    await until(() => isGone(other, others))
    expect(await find(caller, processId)).toBeDefined()
    catalog.execution.failure = undefined
    await due()
    await until(() => isGone(caller, processId))
  })
})
