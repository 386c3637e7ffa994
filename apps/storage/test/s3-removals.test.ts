import { Environment } from '@automation/service'
import { until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readStorageConfig } from '../src/service.ts'
import { s3StandIn } from './s3-stand-in.ts'
import { StorageUnderTest, upload } from './storage-under-test.ts'

let ready: (method: string, key: string) => Promise<void> = async () => undefined
const { keys, settings, close } = await s3StandIn((method, key) => ready(method, key))
let under: StorageUnderTest
beforeAll(async () => {
  under = await StorageUnderTest.open(settings)
})
afterAll(async () => {
  await under.close()
  await close()
})

test('a deletion waits for the content of the object, and not for all that were there before', async () => {
  const { storage } = await under.replica({ deleteWaitMs: 0 })
  const versions: string[] = []
  for (let n = 0; n < 5; n++) versions.push((await upload(storage, 'state.json', `${n}`)).version)
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => gate.resolve())
  ready = async (method, key) => {
    if (method === 'DELETE' && key !== versions.at(-1)) await gate.promise
  }
  await storage.deleteObject({ name: 'state.json' }, userContext('demo'))
  expect(versions.map((version) => keys.has(version))).toEqual([true, true, true, true, false])
  gate.resolve()
  await until(() => !versions.some((version) => keys.has(version)), { what: 'the end of all that were there before' })
})

test('a deletion that a server does not answer is done all the same, and soon', async () => {
  const { storage } = await under.replica({ storeWaitMs: 50 })
  const { version } = await upload(storage, 'deaf', 'x')
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => gate.resolve())
  ready = async (method) => {
    if (method === 'DELETE') await gate.promise
  }
  await storage.deleteObject({ name: 'deaf' }, userContext('demo'))
  await expect(storage.getObject({ name: 'deaf' }, userContext('demo'))).rejects.toMatchObject({ kind: 'not_found' })
  gate.resolve()
  await until(() => !keys.has(version), { what: 'the end of its content' })
}, 30_000)

test('what a put has left that the server did not answer is removed when it can have arrived', async () => {
  const { objects } = readStorageConfig(new Environment(under.settings))
  const { storage } = await under.replica({ objects: { ...objects, s3: { ...objects.s3!, answerMs: 100 } } })
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => gate.resolve())
  ready = async (method) => {
    if (method === 'PUT') await gate.promise
  }
  await expect(upload(storage, 'late', 'x', {}, userContext('patient'))).rejects.toMatchObject({ kind: 'unavailable' })
  const left = 'SELECT extract(epoch FROM due_at - now()) > 300 AS late FROM blobs'
  const { rows } = await under.sql.query(`${left} WHERE team = 'patient'`)
  expect(rows).toEqual([{ late: true }])
  expect(await under.used('patient')).toBe(0)
  ready = async () => undefined
  await upload(storage, 'late', 'y', {}, userContext('patient'))
  await storage.deleteObject({ name: 'late' }, userContext('patient'))
  expect((await under.sql.query(`${left} WHERE team = 'patient' AND due_at > now()`)).rows).toHaveLength(1)
})
