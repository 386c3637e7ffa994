import { Language } from '@automation/contract/common/v1/language'
import { userContext, refusal } from '@automation/testing'
import { compare } from 'bcryptjs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

test('only the fields of the mask change; who changed them is noted', async () => {
  const caller = await catalog.team()
  const before = await catalog.process(caller, { name: 'Old', description: 'kept', tags: ['x'] })
  const other = userContext(caller.principal.team, { name: 'second' })
  const after = await catalog.processes.updateProcess(
    { identifier: before.slug, values: { name: 'New', description: 'not in the mask' }, mask: { paths: ['name'] } },
    other,
  )
  expect(after).toMatchObject({ id: before.id, name: 'New', description: 'kept', tags: ['x'] })
  expect(after).toMatchObject({ createdBy: 'tester', updatedBy: 'second', createdAt: before.createdAt })
  expect(await catalog.processes.getProcess({ identifier: before.id }, caller)).toEqual(after)
})

test('a rename leaves the slug alone', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller, { name: 'first-name' })
  const renamed = await update(caller, id, { name: 'second-name' }, ['name'])
  expect(renamed.slug).toBe('first-name')
})

test('a field of the mask without a value is cleared where it can be empty', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller, {
    description: 'd',
    readme: 'r',
    parametersSchema: '{}',
    publicToken: 't'.repeat(22),
  })
  const cleared = await update(caller, id, {}, ['description', 'readme', 'parameters_schema', 'public_token'])
  for (const absent of ['description', 'readme', 'parametersSchema', 'settings.publicToken'])
    expect(cleared).not.toHaveProperty(absent)
})

test('a field of the mask without a value stays where it can not be empty', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller, { name: 'Stays', slug: 'stays', sourceCode: 'return 1' })
  const same = await update(caller, id, {}, ['name', 'slug', 'source_code'])
  expect(same).toMatchObject({ name: 'Stays', slug: 'stays', sourceCode: 'return 1' })
  expect(await refusal(update(caller, id, { name: '' }, ['name']))).toBe('/name')
  expect(await refusal(update(caller, id, { slug: '' }, ['slug']))).toBe('/slug')
})

test('settings merge field by field; tags and dependencies are replaced whole', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller, {
    formsEnabled: true,
    dependenciesAutoDetect: true,
    tags: ['a', 'b'],
    dependencies: { ms: '1', uuid: '2' },
  })
  const values = { publicEnabled: true, tags: ['c', 'c', 'd'], dependencies: { zod: '4' } }
  const after = await update(caller, id, values, ['public_enabled', 'tags', 'dependencies'])
  expect(after.settings).toMatchObject({ formsEnabled: true, publicEnabled: true, dependenciesAutoDetect: true })
  expect(after.tags).toEqual(['c', 'd'])
  expect(after.dependencies).toEqual({ zod: '4' })
})

test('a token is made where a process is public without one, and stays until another is written', async () => {
  const caller = await catalog.team()
  const made = await catalog.process(caller, { publicEnabled: true })
  const { publicToken } = made.settings!
  expect(publicToken).toMatch(/^[\w-]{32}$/)
  const same = await update(caller, made.id, { description: 'd' }, ['description'])
  expect(same.settings).toMatchObject({ publicToken })
  const other = await update(caller, made.id, {}, ['public_token'])
  expect(other.settings?.publicToken).toMatch(/^[\w-]{32}$/)
  expect(other.settings?.publicToken).not.toBe(publicToken)
  const path = '/settings/publicConfig/token'
  expect(await refusal(update(caller, made.id, { publicToken: 't'.repeat(21) }, ['public_token']))).toBe(path)
  expect(await refusal(catalog.process(caller, { publicToken: 'short' }))).toBe(path)
})

test('the language never changes', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller, { language: Language.PYTHON })
  const after = await update(caller, id, { language: Language.JAVASCRIPT }, ['language'])
  expect(after.language).toBe(Language.PYTHON)
})

test('a slug may move to a free one, not to a taken one, and to itself', async () => {
  const caller = await catalog.team()
  await catalog.process(caller, { slug: 'first' })
  const { id } = await catalog.process(caller, { slug: 'second' })
  expect(await refusal(update(caller, id, { slug: 'first' }, ['slug']))).toBe('/slug')
  expect((await update(caller, id, { slug: 'second' }, ['slug'])).slug).toBe('second')
  expect((await update(caller, id, { slug: 'third' }, ['slug'])).slug).toBe('third')
  expect(await refusal(catalog.processes.getProcess({ identifier: 'second' }, caller))).toBe('process_not_found')
})

test('a webhook password stays until a new one is given', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller, { webhookUsername: 'u', webhookPassword: 'one' })
  await update(caller, id, { webhookEnabled: true }, ['webhook_enabled'])
  await update(caller, id, { webhookPassword: '' }, ['webhook_password'])
  expect(await passwordIs(id, 'one')).toBe(true)
  await update(caller, id, { webhookUsername: 'v' }, ['webhook_username'])
  expect(await passwordIs(id, 'one')).toBe(true)
  const after = await update(caller, id, { webhookPassword: 'two' }, ['webhook_password'])
  expect(after.webhook).toMatchObject({ enabled: true, username: 'v' })
  expect(await passwordIs(id, 'two')).toBe(true)
})

test('addresses that a webhook may be called from are replaced whole, and stay where nobody names them', async () => {
  const caller = await catalog.team()
  const { id, sourceDigest } = await catalog.process(caller, { webhookEnabled: true })
  const named = async (addresses: string[] | undefined) =>
    (await update(caller, id, { webhookAllowedAddresses: addresses }, ['webhook_allowed_addresses'])).webhook
  expect(await named(['10.0.0.0/8', '::1'])).toMatchObject({ allowedAddresses: ['10.0.0.0/8', '::1'] })
  expect(await named(['192.0.2.1'])).toMatchObject({ allowedAddresses: ['192.0.2.1'] })
  const after = await update(caller, id, { webhookEnabled: false }, ['webhook_enabled'])
  expect(after.webhook).toMatchObject({ enabled: false, allowedAddresses: ['192.0.2.1'] })
  expect((await catalog.spec(caller, id)).webhook).toMatchObject({ allowedAddresses: ['192.0.2.1'] })
  expect(await named(undefined)).toMatchObject({ allowedAddresses: [] })
  const same = await update(caller, id, { webhookEnabled: true }, ['webhook_enabled'])
  expect(same.sourceDigest).toBe(sourceDigest)
})

test.each([{}, { webhookUsername: '' }])(
  'a username that is cleared takes the password with it (%j)',
  async (values) => {
    const caller = await catalog.team()
    const { id } = await catalog.process(caller, { webhookUsername: 'u', webhookPassword: 'p' })
    const after = await update(caller, id, values, ['webhook_username'])
    expect(after.webhook?.username).toBeUndefined()
    expect(await passwordIs(id, 'p')).toBe(false)
    expect(await refusal(update(caller, id, { webhookUsername: 'u' }, ['webhook_username']))).toBe('/webhook/password')
  },
)

test('a mask that names no field of a process is refused', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller)
  for (const path of ['id', 'created_by', 'constructor', '__proto__', 'sourceCode'])
    expect(await refusal(update(caller, id, {}, [path])), path).toBe(`/${path}`)
})

test('updates at once are all kept', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller)
  await Promise.all([
    update(caller, id, { name: 'new name' }, ['name']),
    update(caller, id, { description: 'new description' }, ['description']),
    update(caller, id, { tags: ['new'] }, ['tags']),
  ])
  const after = await catalog.processes.getProcess({ identifier: id }, caller)
  expect(after).toMatchObject({ name: 'new name', description: 'new description', tags: ['new'] })
})

test('another team can not update it, nor learn that it is there', async () => {
  const { id } = await catalog.process(await catalog.team())
  expect(await refusal(update(await catalog.team(), id, { name: 'x' }, ['name']))).toBe('process_not_found')
})

type Caller = ReturnType<typeof userContext>

function update(caller: Caller, identifier: string, values: object, paths: string[]) {
  return catalog.processes.updateProcess({ identifier, values, mask: { paths } }, caller)
}

async function passwordIs(id: string, password: string): Promise<boolean> {
  const [row] = await catalog.sql<{ hash: string | null }>(
    'SELECT webhook_password_hash AS hash FROM processes WHERE id = $1',
    [id],
  )
  return row?.hash != null && compare(password, row.hash)
}
