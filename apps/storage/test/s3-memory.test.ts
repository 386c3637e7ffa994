import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { StorageUnderTest, upload, type Replica } from './storage-under-test.ts'

/** Takes whatever is put, and keeps nothing. */
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.method === 'DELETE') response.statusCode = 204
    const isList = request.method === 'GET'
    response.setHeader('ETag', '"0"')
    response.end(
      isList ? '<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>' : '',
    )
  })
})

let under: StorageUnderTest
let storage: Replica['storage']
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  under = await StorageUnderTest.open({
    S3_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    S3_BUCKET: 'bucket',
    S3_ACCESS_KEY: 'access',
    S3_SECRET_KEY: 'a secret',
  })
  storage = (await under.replica()).storage
})
afterAll(async () => {
  await under.close()
  server.closeAllConnections()
  server.close()
})

const mebibyte = 2 ** 20

async function* content(whole: () => void, goesOn: Promise<void>): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < 7 * 16; piece++) yield Buffer.alloc(mebibyte / 16)
  whole()
  await goesOn
}

test('few uploads that do not go on are held at a time, and leave room for another team', async () => {
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => gate.resolve())
  let held = 0
  const slow = Promise.allSettled(
    Array.from({ length: 30 }, (_, n) =>
      upload(
        storage,
        `f${n}`,
        content(() => held++, gate.promise),
        {},
        userContext('slow'),
      ),
    ),
  )
  await until(() => held >= 8, { what: 'contents that wait' })
  const another = userContext('another')
  await upload(storage, 'small', 'x', { size: 1 }, another)
  await upload(
    storage,
    'large',
    content(() => undefined, Promise.resolve()),
    {},
    another,
  )
  expect(held).toBe(8)
  gate.resolve()
  expect((await slow).filter(({ status }) => status === 'rejected')).toEqual([])
})
