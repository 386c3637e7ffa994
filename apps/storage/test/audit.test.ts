import { AuditType } from '@automation/contract/audit/v1/audit'
import { unavailable } from '@automation/errors'
import { uploadMessages } from '@automation/contract/uploads'
import { refusal, until, userContext } from '@automation/testing'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { runContext, StorageUnderTest, upload } from './storage-under-test.ts'

const under = await StorageUnderTest.open({ TEAM_MAX_STORAGE_BYTES: '1000' })
afterAll(() => under.close())
const { storage } = await under.replica()
const { audit } = under
const ann = userContext('demo', { name: 'Ann', initiatedBy: 'ann@example.com', ip: '192.0.2.7' })

beforeEach(() => {
  audit.failure = undefined
})

test('uploads, links and deletions are told once each, with who did it', async () => {
  await upload(storage, 'a/b.txt', 'one', {}, ann)
  await upload(storage, 'a/b.txt', 'two', {}, ann)
  await storage.signUrl({ name: 'a/b.txt' }, ann)
  await storage.deleteObject({ name: 'a/b.txt' }, ann)
  await until(() => audit.records('a/b.txt').length === 4)
  expect(audit.of('a/b.txt')).toEqual(['uploaded by Ann', 'uploaded by Ann', 'signed by Ann', 'deleted by Ann'])
  for (const record of audit.records('a/b.txt')) {
    const { type, team, initiatedBy, ip } = record
    expect({ type, team, initiatedBy, ip }).toEqual({
      ...{ type: AuditType.STORAGE, team: 'demo', initiatedBy: 'ann@example.com', ip: '192.0.2.7' },
    })
    expect(JSON.stringify(record)).not.toMatch(/one|two|X-Amz/)
  }
})

test('what a run does is told as its maker’s', async () => {
  await upload(storage, 'by-run', 'x', {}, runContext('demo'))
  await storage.deleteObject({ name: 'by-run' }, runContext('demo'))
  await until(() => audit.of('by-run').length === 2)
  expect(audit.of('by-run')).toEqual(['uploaded by maker', 'deleted by maker'])
  for (const { initiatedBy, ip } of audit.records('by-run'))
    expect({ initiatedBy, ip }).toEqual({ initiatedBy: 'bob@example.com', ip: undefined })
})

test('what is refused is not told, nor what the system keeps for a while', async () => {
  expect(await refusal(upload(storage, 'large', 'x'.repeat(2000)))).toBe('storage_full')
  expect(await refusal(storage.deleteObject({ name: 'large' }, ann))).toBe('object_not_found')
  expect(await refusal(storage.signUrl({ name: 'large' }, ann))).toBe('object_not_found')
  const begin = { name: 'kept', contentType: '', size: 1n, expiresInS: 600n }
  await storage.uploadObject(uploadMessages(begin, [Buffer.from('x')]), ann)
  await upload(storage, 'after', 'x', {}, ann)
  await until(() => audit.of('after').length === 1)
  expect([...audit.of('large'), ...audit.of('kept')]).toEqual([])
})

test('while the catalog is away nothing waits, and later each is told once', async () => {
  audit.failure = unavailable('away')
  await upload(storage, 'meanwhile', 'x', {}, ann)
  await storage.deleteObject({ name: 'meanwhile' }, ann)
  expect(audit.of('meanwhile')).toEqual([])
  audit.failure = undefined
  await until(() => audit.of('meanwhile').length === 2)
  await until(async () => (await under.sql.query('SELECT FROM audit_outbox')).rowCount === 0)
  expect(audit.of('meanwhile')).toEqual(['uploaded by Ann', 'deleted by Ann'])
})
