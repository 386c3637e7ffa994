import { SealingService } from '@automation/contract/catalog/v1/sealing'
import { SecretBox } from '@automation/database'
import { operatorContext, testDatabase, userContext, refusal } from '@automation/testing'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { catalogSchema } from '../src/service.ts'
import { variableContext } from '../src/fields/variable-rules.ts'
import { startCatalogProcess } from './catalog-process.ts'
import { CatalogUnderTest, encryptionKey } from './catalog-under-test.ts'

const newKey = 'another key for tests: 0123456789'
const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function freshDatabase(): Promise<string> {
  const database = await testDatabase(catalogSchema)
  ends.push(() => database.drop())
  return database.url
}

async function started(url: string, encryptionKeys: string[]): Promise<CatalogUnderTest> {
  const catalog = new CatalogUnderTest(url, { encryptionKeys })
  ends.push(() => catalog.part.stop(1000))
  await catalog.part.start()
  return catalog
}

async function reseal(catalog: CatalogUnderTest, limit: number) {
  const { secrets, ...answer } = await catalog.client(SealingService).reseal({ limit }, operatorContext())
  return { ...answer, left: Object.fromEntries(secrets.map(({ kind, onOlderKeys }) => [kind, Number(onOlderKeys)])) }
}

/** Variables of a team, `amount` of them, sealed with the former key. */
async function withVariables(url: string, amount: number): Promise<void> {
  const former = await started(url, [encryptionKey])
  await former.team('sealed')
  await former.part.stop(1000)
  const box = new SecretBox([encryptionKey])
  const ids = Array.from({ length: amount }, () => crypto.randomUUID())
  const client = new pg.Client({ connectionString: url, options: '-c search_path=catalog' })
  await client.connect()
  await client.query(
    `INSERT INTO variables (id, team, key, ciphertext, key_id, is_sensitive, created_by, created_at)
     SELECT id, 'sealed', key, ciphertext, $4, false, 'tester', now()
     FROM unnest($1::uuid[], $2::text[], $3::bytea[]) AS given (id, key, ciphertext)`,
    [
      ids,
      ids.map((_, index) => `V${index}`),
      ids.map((id, index) => box.seal(`value ${index}`, variableContext(id)).ciphertext),
      box.keyId,
    ],
  )
  await client.end()
}

async function values(catalog: CatalogUnderTest): Promise<Record<string, string>> {
  const { variables } = await catalog.variables.listVariables({ page: { page: 0, limit: 1000 } }, userContext('sealed'))
  return Object.fromEntries(variables.map(({ key, value }) => [key, value ?? '']))
}

test('after a new key was put first, old values read on, are sealed anew, and need the old key no more', async () => {
  const url = await freshDatabase()
  await withVariables(url, 3)
  const both = await started(url, [newKey, encryptionKey])
  expect(await values(both)).toEqual({ V0: 'value 0', V1: 'value 1', V2: 'value 2' })
  await reseal(both, 100)
  expect((await reseal(both, 0)).left).toEqual({ variables: 0, 'signing keys': 0, 'console sessions': 0 })
  await both.part.stop(1000)
  const alone = await started(url, [newKey])
  expect(await values(alone)).toEqual({ V0: 'value 0', V1: 'value 1', V2: 'value 2' })
})

test('values are listed while they are sealed anew', async () => {
  const url = await freshDatabase()
  await withVariables(url, 1)
  const catalog = await started(url, [newKey, encryptionKey])
  const [{ id } = { id: '' }] = await catalog.sql<{ id: string }>('SELECT id FROM variables')
  const boxes = [new SecretBox([encryptionKey]), new SecretBox([newKey])]
  let isOver = false
  const sealing = (async () => {
    for (let count = 0; !isOver; count += 1) {
      const { ciphertext, keyId } = boxes[count % 2]!.seal('value 0', variableContext(id))
      await catalog.sql('UPDATE variables SET ciphertext = $1, key_id = $2', [ciphertext, keyId])
    }
  })()
  try {
    for (let count = 0; count < 50; count += 1) expect(await values(catalog)).toEqual({ V0: 'value 0' })
  } finally {
    isOver = true
    await sealing
  }
})

test('killed in the middle of sealing anew it has lost nothing, and goes on where it was', async () => {
  const url = await freshDatabase()
  await withVariables(url, 900)
  const killed = await startCatalogProcess(url, 'secrets-resealed:1', { encryptionKey: `${newKey},${encryptionKey}` })
  ends.push(async () => killed.close())
  expect(await killed.gone).toEqual([null, 'SIGKILL'])
  const read = new CatalogUnderTest(url, { encryptionKeys: [encryptionKey, newKey] })
  const amounts = await read.sql<{ amount: number }>(
    'SELECT count(*)::int AS amount FROM variables GROUP BY key_id ORDER BY 1',
  )
  expect(amounts.map(({ amount }) => amount)).toEqual([400, 500])
  const next = await started(url, [newKey, encryptionKey])
  const before = await values(next)
  await reseal(next, 10_000)
  expect((await reseal(next, 0)).left).toEqual({ variables: 0, 'signing keys': 0, 'console sessions': 0 })
  const all = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`V${index}`, `value ${index}`]))
  expect(before).toEqual(all)
  expect(await values(next)).toEqual(all)
})

test('a secret that is damaged holds up no other, and is told', async () => {
  const url = await freshDatabase()
  await withVariables(url, 3)
  const catalog = await started(url, [encryptionKey])
  await catalog.sql(`UPDATE variables SET ciphertext = '\\x00112233445566778899aabbccddeeff00112233' WHERE key = 'V1'`)
  await catalog.part.stop(1000)
  const next = await started(url, [newKey, encryptionKey])
  await reseal(next, 100)
  const { secrets } = await next.client(SealingService).reseal({ limit: 100 }, operatorContext())
  expect(secrets).toMatchObject([
    { kind: 'variables', total: 3n, onOlderKeys: 1n, damaged: 1n },
    { kind: 'signing keys', onOlderKeys: 0n, damaged: 0n },
    { kind: 'console sessions', total: 0n, damaged: 0n },
  ])
})

test('nobody but the operator seals anew', async () => {
  const catalog = await started(await freshDatabase(), [encryptionKey])
  expect(await refusal(catalog.client(SealingService).reseal({ limit: 1 }, userContext('sealed')))).toBe(
    'permission_denied',
  )
})
