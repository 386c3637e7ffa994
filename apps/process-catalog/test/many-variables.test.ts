import { SecretBox } from '@automation/database'
import { FaultProxy } from '@automation/testing/fault-proxy'
import { refusal } from '@automation/testing'
import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { variableContext } from '../src/fields/variable-rules.ts'
import { CatalogUnderTest, encryptionKey, startCatalog } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
let proxy: FaultProxy
/** The same through a proxy that counts. */
let counted: CatalogUnderTest

beforeAll(async () => {
  ;({ catalog, stop } = await startCatalog())
  proxy = await FaultProxy.start(catalog.url)
  counted = new CatalogUnderTest(proxy.url)
  await counted.part.start()
})
afterAll(async () => {
  await counted.part.stop(1000)
  await proxy.close()
  await stop()
})

const valueLength = 4000
const count = 1900
const kib = 1024

/** What the database answers meanwhile. */
async function answered(work: () => Promise<unknown>): Promise<number> {
  const before = proxy.answeredBytes
  await work()
  return proxy.answeredBytes - before
}

test('who asks for what is not there has the database read none of the variables, however many ask', async () => {
  const { id, team } = await teamWithVariables()
  const other = await newProcess()
  await counted.spec(other.caller, other.id)
  const bytes = await answered(async () => {
    const nothing = Array.from({ length: 20 }, (_, n) => [
      refusal(counted.resolve(team, `nope-${n}`)),
      refusal(counted.resolve(team, id, `nope-${n}`)),
    ])
    await counted.spec(other.caller, other.id)
    expect(new Set(await Promise.all(nothing.flat()))).toEqual(new Set(['process_not_found', 'version_not_found']))
  })
  expect(bytes).toBeLessThan(500 * kib)
})

test('the variables of a team are read once for all its processes, until they are others', async () => {
  const { caller, id } = await teamWithVariables()
  const { id: second } = await catalog.process(caller, { name: 'Second' })
  const { variables } = await counted.spec(caller, id)
  expect(variables).toHaveLength(count)
  expect(variables.map(({ key, value }) => [key, value.length])).toContainEqual(['V77', valueLength])
  const bytes = await answered(async () => expect((await counted.spec(caller, second)).variables).toEqual(variables))
  expect(bytes).toBeLessThan(100 * kib)
  await catalog.variables.createVariable({ key: 'NEW', value: 'of the moment' }, caller)
  expect((await counted.spec(caller, second)).variables).toContainEqual(
    expect.objectContaining({ key: 'NEW', value: 'of the moment' }),
  )
})

async function newProcess() {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller)
  return { caller, id, team: caller.principal.team }
}

async function teamWithVariables() {
  const made = await newProcess()
  const box = new SecretBox([encryptionKey])
  const ids = Array.from({ length: count }, () => v7())
  const ciphertexts = ids.map((id) => Buffer.from(box.seal('x'.repeat(valueLength), variableContext(id)).ciphertext))
  const keys = ids.map((_, nth) => `V${nth}`)
  await catalog.withoutTriggers(
    'variables',
    `INSERT INTO variables (id, team, key, ciphertext, key_id, is_sensitive, created_by, created_at)
     SELECT id, $1, key, ciphertext, $5, true, 'somebody', now()
     FROM unnest($2::uuid[], $3::text[], $4::bytea[]) AS row (id, key, ciphertext)`,
    [made.team, ids, keys, ciphertexts, box.keyId],
  )
  return made
}
