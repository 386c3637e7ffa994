import { refusal, userContext } from '@automation/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { StorageUnderTest, upload } from './storage-under-test.ts'

const under = await StorageUnderTest.open()
afterAll(() => under.close())
const { storage } = await under.replica()

const last = '\u{10ffff}'
const names = [
  'a',
  'a/b',
  'a/b/c',
  `a/${last}`,
  `a/${last}x`,
  'a0',
  'b/1',
  'b/2',
  'c',
  'c-d-e',
  'c-d-f',
  'd/e',
  'd\ud7ff\ue000',
  `${last}/x`,
  `${last}/y`,
  last,
]
const team = 'lists'

beforeAll(async () => {
  for (const name of names) await upload(storage, name, 'x', {}, userContext(team))
})

interface Wanted {
  prefix?: string
  delimiter?: string
  after?: string
  limit?: number
}

async function list(wanted: Wanted, of = team): Promise<string[]> {
  const lists = await Array.fromAsync(storage.listObjects(wanted, userContext(of)))
  return lists.flatMap(({ objects, entries }) => [
    ...objects.map(({ name }) => name),
    ...entries.map(({ entry }) => (entry.case === 'object' ? entry.value.name : (entry.value ?? ''))),
  ])
}

const inBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** By the rule itself. */
function expected({ prefix = '', delimiter = '', after = '', limit = 0 }: Wanted): string[] {
  const entryOf = (name: string) => {
    const end = delimiter === '' ? -1 : name.indexOf(delimiter, prefix.length)
    return end < 0 ? name : name.slice(0, end + delimiter.length)
  }
  const all = names.filter((name) => name.startsWith(prefix)).toSorted(inBytes)
  const past = after.startsWith(prefix) ? entryOf(after) : after
  const left = all.filter((name) => inBytes(name, after) > 0 && entryOf(name) !== past).map(entryOf)
  return [...new Set(left)].slice(0, limit || undefined)
}

test('folders stand for all that is in them, in the order of names', async () => {
  expect(await list({ delimiter: '/' })).toEqual([
    'a',
    'a/',
    'a0',
    'b/',
    'c',
    'c-d-e',
    'c-d-f',
    'd/',
    'd\ud7ff\ue000',
    last,
    `${last}/`,
  ])
  expect(await list({ delimiter: '/', prefix: 'a/' })).toEqual(['a/b', 'a/b/', `a/${last}`, `a/${last}x`])
  expect(await list({ delimiter: '-d-', prefix: 'c' })).toEqual(['c', 'c-d-'])
  expect(await list({ delimiter: '/', prefix: 'b/' }, 'others')).toEqual([])
})

test('whatever is asked for, the list is what the rule says, and page after page it comes to its end', async () => {
  const word = fc.constantFrom('', ...names, 'a/', 'b', 'c-', 'd', 'zz', `${last}/`, '\ud7ff')
  const wanted = fc.record({
    prefix: word,
    delimiter: fc.constantFrom('', '/', '-', '-d', 'd\ud7ff', '/b'),
    after: word,
    limit: fc.integer({ min: 0, max: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(wanted, async (query) => {
      expect(await list(query)).toEqual(expected(query))
      const whole = expected({ ...query, limit: 0, after: '' })
      const paged: string[] = []
      for (let after = ''; paged.length <= whole.length; after = paged.at(-1)!) {
        const page = await list({ ...query, after, limit: 2 })
        paged.push(...page)
        if (page.length < 2) break
      }
      expect(paged).toEqual(whole)
    }),
    { numRuns: 150 },
  )
})

test('of a folder with many objects one is read', async () => {
  const many = 'many'
  await under.sql.query(
    `INSERT INTO objects (team, name, blob_id, size, md5, content_type, created_by, created_at, updated_at)
       SELECT $1, n / 20000 || '/' || n, blob_id, size, md5, content_type, created_by, created_at, updated_at
         FROM objects, generate_series(0, 59999) n WHERE team = $2 AND name = 'a'`,
    [many, team],
  )
  expect(await list({ delimiter: '/' }, many)).toEqual(['0/', '1/', '2/'])
  expect(await list({ delimiter: '/', limit: 1, after: '0/17' }, many)).toEqual(['1/'])
})

test.each([
  [{ delimiter: 'x'.repeat(17) }, '/delimiter'],
  [{ delimiter: last }, '/delimiter'],
  [{ delimiter: 'a\0' }, '/delimiter'],
  [{ after: '\0' }, '/after'],
])('%j is refused', async (wanted, path) => {
  expect(await refusal(list(wanted))).toBe(path)
})
