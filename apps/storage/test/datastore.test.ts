import { refusal, userContext } from '@automation/testing'
import { afterAll, expect, test } from 'vitest'
import { runContext, StorageUnderTest } from './storage-under-test.ts'

const under = await StorageUnderTest.open({ TEAM_LIMITS: 'datastoreKeys=20' })
afterAll(() => under.close())
const { datastore } = await under.replica()
const get = async (key: string, team = 'demo') => (await datastore.getValue({ key }, runContext(team))).value
const set = (key: string, value: string, team = 'demo') => datastore.setValue({ key, value }, runContext(team))
const keys = async (prefix: string, team = 'demo') => (await datastore.listKeys({ prefix }, runContext(team))).keys

test('values are kept for the team alone, replaced and deleted', async () => {
  expect(await get('k')).toBeUndefined()
  await set('k', '{"a":[1,"ü"]}')
  expect(await get('k')).toBe('{"a":[1,"ü"]}')
  expect(await get('k', 'other')).toBeUndefined()
  await set('k', 'null')
  expect(await get('k')).toBe('null')
  expect(await datastore.deleteValue({ key: 'k' }, userContext('demo'))).toMatchObject({ existed: true })
  expect(await datastore.deleteValue({ key: 'k' }, userContext('demo'))).toMatchObject({ existed: false })
  expect(await get('k')).toBeUndefined()
})

test('keys are listed in order, below a prefix', async () => {
  for (const key of ['b', 'a%1', 'a_2', 'ä']) await set(key, '1', 'listed')
  expect(await keys('', 'listed')).toEqual(['a%1', 'a_2', 'b', 'ä'])
  expect(await keys('a%', 'listed')).toEqual(['a%1'])
})

test('values above 64 KiB, what is no JSON, and keys that can not be kept are refused', async () => {
  await set('large', JSON.stringify('x'.repeat(65_534)))
  expect(await refusal(set('large', JSON.stringify('x'.repeat(65_535))))).toBe('value_too_large')
  expect(await refusal(set('k', '{'))).toBe('/value')
  for (const key of ['', 'a\0b', 'x'.repeat(513), '\ud800']) expect(await refusal(set(key, '1'))).toBe('/key')
})

test('a team has no more keys than it may, however many come at once', async () => {
  const tries = Array.from({ length: 40 }, (_, n) => set(`k${n}`, '1', 'crowd'))
  const made = (await Promise.allSettled(tries)).filter(({ status }) => status === 'fulfilled')
  expect(made.length).toBe(20)
  expect(await refusal(set('one-more', '1', 'crowd'))).toBe('datastore_full')
  const [first = ''] = await keys('', 'crowd')
  await set(first, '2', 'crowd')
})
