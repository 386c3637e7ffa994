import { userContext, refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CatalogUnderTest, startCatalog } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

describe('team variables', () => {
  test('what was given is read back; a missing value is empty', async () => {
    const caller = await catalog.team()
    const created = await catalog.variables.createVariable({ key: 'API_URL', value: 'http://x ☃' }, caller)
    expect(created).toMatchObject({ key: 'API_URL', value: 'http://x ☃', isSensitive: false, createdBy: 'tester' })
    expect(created).not.toHaveProperty('updatedAt')
    expect((await catalog.variables.createVariable({ key: 'e' }, caller)).value).toBe('')
    const { variables, page } = await catalog.variables.listVariables({}, caller)
    expect(variables.map(({ key }) => key)).toEqual(['e', 'API_URL'])
    expect(variables[1]).toEqual(created)
    expect(page).toMatchObject({ total: 2, hasNextPage: false })
  })

  test('a sensitive value reads back as ****** everywhere but in runs', async () => {
    const caller = await catalog.team()
    const sensitive = { key: 'SECRET', value: 'top-secret', isSensitive: true }
    const created = await catalog.variables.createVariable(sensitive, caller)
    expect(created.value).toBe('******')
    expect((await catalog.variables.listVariables({}, caller)).variables[0]?.value).toBe('******')
    const updated = await catalog.variables.updateVariable({ id: created.id, value: 'other-secret' }, caller)
    expect(updated.value).toBe('******')
    const { slug } = await catalog.process(caller)
    expect((await catalog.spec(caller, slug)).variables).toMatchObject([
      { key: 'SECRET', value: 'other-secret', isSensitive: true },
    ])
  })

  test('a sensitive value that is sent back as it was read stays', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.variables.createVariable({ key: 'A', value: 'top-secret', isSensitive: true }, caller)
    await catalog.variables.updateVariable({ id, key: 'B', value: '******' }, caller)
    const open = await catalog.variables.createVariable({ key: 'C', value: 'x' }, caller)
    expect((await catalog.variables.updateVariable({ id: open.id, value: '******' }, caller)).value).toBe('******')
    const { slug } = await catalog.process(caller)
    expect((await catalog.spec(caller, slug)).variables).toMatchObject([
      { key: 'B', value: 'top-secret' },
      { key: 'C', value: '******' },
    ])
  })

  test('a key is a letter, then letters, digits and underscores, at most 255 in all', async () => {
    const caller = await catalog.team()
    for (const key of ['', '1a', '_a', 'a-b', 'a b', 'ä', 'a\n', 'a\0', 'a'.repeat(256)])
      expect(await refusal(catalog.variables.createVariable({ key }, caller)), key).toBe('/key')
    expect((await catalog.variables.createVariable({ key: 'a'.repeat(255) }, caller)).key).toHaveLength(255)
  })

  test('a key is unique in its team, also among those made at once', async () => {
    const caller = await catalog.team()
    const tries = await Promise.allSettled(
      Array.from({ length: 5 }, () => catalog.variables.createVariable({ key: 'ONE' }, caller)),
    )
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const { id } = await catalog.variables.createVariable({ key: 'TWO' }, caller)
    expect(await refusal(catalog.variables.updateVariable({ id, key: 'ONE' }, caller))).toBe('/key')
    expect((await catalog.variables.updateVariable({ id, key: 'TWO' }, caller)).key).toBe('TWO')
    expect((await catalog.variables.createVariable({ key: 'ONE' }, await catalog.team())).key).toBe('ONE')
  })

  test('a value has at most 64 KiB and no NUL', async () => {
    const caller = await catalog.team()
    const most = 'é'.repeat(32 * 1024)
    expect((await catalog.variables.createVariable({ key: 'a', value: most }, caller)).value).toBe(most)
    expect(await refusal(catalog.variables.createVariable({ key: 'b', value: `${most}x` }, caller))).toBe('/value')
    expect(await refusal(catalog.variables.createVariable({ key: 'b', value: 'a\0b' }, caller))).toBe('/value')
  })

  test('an update changes what it names; sensitivity is fixed', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.variables.createVariable({ key: 'K', value: 'v' }, caller)
    const other = userContext(caller.principal.team, { name: 'second' })
    expect(await catalog.variables.updateVariable({ id, key: 'L' }, other)).toMatchObject({
      key: 'L',
      value: 'v',
      createdBy: 'tester',
      updatedBy: 'second',
    })
    expect((await catalog.variables.updateVariable({ id, value: '', isSensitive: false }, caller)).value).toBe('')
    expect(await refusal(catalog.variables.updateVariable({ id, isSensitive: true }, caller))).toBe('/isSensitive')
  })

  test('a deleted variable is gone; one of another team, or a malformed id, is not found', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.variables.createVariable({ key: 'K' }, caller)
    const otherTeam = await catalog.team()
    expect(await refusal(catalog.variables.updateVariable({ id, value: 'x' }, otherTeam))).toBe('variable_not_found')
    expect(await refusal(catalog.variables.deleteVariable({ id }, otherTeam))).toBe('variable_not_found')
    await catalog.variables.deleteVariable({ id }, caller)
    for (const gone of [id, 'K', '\0'])
      expect(await refusal(catalog.variables.deleteVariable({ id: gone }, caller))).toBe('variable_not_found')
  })
})

describe('encryption at rest', () => {
  test('no value stands in the database in plain text', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.variables.createVariable({ key: 'PLAIN', value: 'findme-findme' }, caller)
    const [row] = await catalog.sql<{ text: string }>('SELECT variables::text AS text FROM variables WHERE id = $1', [
      id,
    ])
    expect(row?.text).not.toContain('findme')
    expect(row?.text).not.toContain(Buffer.from('findme').toString('hex'))
  })

  test('a ciphertext that was moved to another row does not open', async () => {
    const caller = await catalog.team()
    const { id: first } = await catalog.variables.createVariable({ key: 'A', value: 'of the first' }, caller)
    const { id: second } = await catalog.variables.createVariable({ key: 'B', value: 'of the second' }, caller)
    await catalog.sql(
      'UPDATE variables SET ciphertext = (SELECT ciphertext FROM variables WHERE id = $1) WHERE id = $2',
      [first, second],
    )
    expect(await refusal(catalog.variables.listVariables({}, caller))).toBe('internal_error')
  })

  test('without a key that something was encrypted with it does not start, and says which', async () => {
    const other = new CatalogUnderTest(catalog.url, { encryptionKeys: ['a key that opens nothing here'] })
    await expect(other.part.start()).rejects.toMatchObject({ code: 'encryption_key_missing' })
    await other.part.stop(1000)
  })
})
