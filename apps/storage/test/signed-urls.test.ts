import { refusal, serviceContext, userContext } from '@automation/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { SignedUrls } from '../src/signed-urls.ts'
import { StorageUnderTest, upload } from './storage-under-test.ts'

const under = await StorageUnderTest.open({ S3_ENDPOINT: '' })
afterAll(() => under.close())
const { storage } = await under.replica()
const sign = (name: string, expiresInS?: number, team = 'demo') =>
  storage.signUrl({ name, expiresInS: expiresInS === undefined ? undefined : BigInt(expiresInS) }, userContext(team))
const open = (given: { team?: string; name?: string; method?: string; query: string }) =>
  storage.openSignedUrl({ team: 'demo', name: 'a/ü b.txt', method: 'GET', ...given }, serviceContext('gateway'))

await upload(storage, 'a/ü b.txt', 'x')
await upload(storage, 'other.txt', 'x')
await upload(storage, 'a/ü b.txt', 'y', {}, userContext('other'))

test('a link is a V4 link to the public address, and opens its object', async () => {
  const { url, name, expiresAt } = await sign('a/ü b.txt', 60)
  const { origin, pathname, search, searchParams } = new URL(url)
  expect(origin + pathname).toBe('http://files.test/api/demo/rest/storage/signed/a/%C3%BC%20b.txt')
  expect(Object.fromEntries(searchParams)).toMatchObject({
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Expires': '60',
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(name).toBe('a/ü b.txt')
  expect(Math.abs(Number(expiresAt?.seconds) - Date.now() / 1000 - 60)).toBeLessThan(20)
  expect((await open({ query: search.slice(1) })).name).toBe('a/ü b.txt')
})

test('what is signed without an expiry lasts an hour; seconds out of range and unknown objects are refused', async () => {
  expect((await sign('other.txt')).url).toContain('X-Amz-Expires=3600')
  expect((await sign('other.txt', 604_800)).url).toContain('X-Amz-Expires=604800')
  for (const wrong of [0, -1, 604_801]) expect(await refusal(sign('other.txt', wrong))).toBe('/expiresInSeconds')
  expect(await refusal(sign('nothing'))).toBe('object_not_found')
  expect(await refusal(sign('other.txt', 60, 'other'))).toBe('object_not_found')
  expect(await refusal(sign('../x'))).toBe('/path')
})

describe('a link that was changed is invalid', async () => {
  const query = new URL((await sign('a/ü b.txt', 60)).url).search.slice(1)
  const changed = (name: string, value: string) => query.replace(new RegExp(`${name}=[^&]*`), `${name}=${value}`)
  test.each([
    ['another path', { query, name: 'other.txt' }],
    ['another team', { query, team: 'other' }],
    ['another method', { query, method: 'PUT' }],
    ['HEAD', { query, method: 'HEAD' }],
    ['a longer time', { query: changed('X-Amz-Expires', '600') }],
    ['a later date', { query: changed('X-Amz-Date', '20990101T000000Z') }],
    ['other headers', { query: changed('X-Amz-SignedHeaders', 'host%3Bx') }],
    ['another algorithm', { query: changed('X-Amz-Algorithm', 'AWS4-HMAC-SHA512') }],
    ['another key', { query: changed('X-Amz-Credential', 'A%2F20260101%2Fus-east-1%2Fs3%2Faws4_request') }],
    ['no signature', { query: query.replace(/&X-Amz-Signature=.*/, '') }],
    ['half a signature', { query: query.slice(0, -1) }],
    ['another parameter', { query: `${query}&response-content-type=text/html` }],
    ['a parameter twice', { query: `${query}&X-Amz-Expires=60` }],
    ['nothing', { query: '' }],
  ])('%s', async (_, link) => {
    expect(await refusal(open(link))).toBe('signed_url_invalid')
  })
})

test('a link is good until its last second, and not before its time', () => {
  const urls = new SignedUrls('https://example.com/base', ['k2', 'k1'])
  const target = { team: 't', name: "a/(b)!'*.txt" }
  const nowMs = Date.UTC(2026, 0, 31, 12)
  const url = new URL(urls.sign(target, nowMs, 10))
  expect(url.pathname).toBe('/base/api/t/rest/storage/signed/a/%28b%29%21%27%2A.txt')
  const link = { ...target, method: 'GET', query: url.search.slice(1) }
  urls.check(link, nowMs + 9_999)
  expect(() => urls.check(link, nowMs + 10_000)).toThrow('expired')
  expect(() => urls.check(link, nowMs - 16 * 60_000)).toThrow('not valid')
  // A key that is no longer the first still verifies, one that is gone does not.
  new SignedUrls('https://example.com/base', ['k3', 'k2']).check(link, nowMs)
  expect(() => new SignedUrls('https://example.com/base', ['k1']).check(link, nowMs)).toThrow('not valid')
})

test('a good link to an object that is gone finds nothing', async () => {
  await upload(storage, 'short-lived', 'x')
  const query = new URL((await sign('short-lived', 60)).url).search.slice(1)
  await storage.deleteObject({ name: 'short-lived' }, userContext('demo'))
  expect(await refusal(open({ query, name: 'short-lived' }))).toBe('object_not_found')
})

test('only other services open links', async () => {
  const query = new URL((await sign('other.txt')).url).search.slice(1)
  const link = { team: 'demo', name: 'other.txt', method: 'GET', query }
  expect(await refusal(storage.openSignedUrl(link, userContext('demo')))).toBe('permission_denied')
})
