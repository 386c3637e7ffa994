import { readFile } from 'node:fs/promises'
import { Language } from '@automation/contract/common/v1/language'
import type { Failure } from '@automation/errors'
import { refusal } from '@automation/testing'
import { compare } from 'bcryptjs'
import { validate, version } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

describe('creating a process', () => {
  test('a name is all it takes; everything else has a default', async () => {
    const caller = await catalog.team()
    const process = await catalog.process(caller, { name: 'Monthly Report' })
    expect(process).toMatchObject({
      name: 'Monthly Report',
      slug: 'monthly-report',
      language: Language.JAVASCRIPT,
      sourceCode: '',
      webhook: { enabled: false },
      settings: { formsEnabled: false, publicEnabled: false, dependenciesScopedToProcess: false },
      dependencies: {},
      tags: [],
      createdBy: 'tester',
    })
    for (const absent of ['description', 'readme', 'parametersSchema', 'updatedBy', 'webhook.username'])
      expect(process).not.toHaveProperty(absent)
    expect(validate(process.id) && version(process.id)).toBe(7)
    expect(process.updatedAt).toEqual(process.createdAt)
  })

  test('everything that was given is read back as it was given', async () => {
    const caller = await catalog.team()
    const values = {
      name: 'Ünïcödé ✓',
      slug: 'all-of-it',
      description: 'What it does',
      readme: '# Read me',
      language: Language.PYTHON,
      sourceCode: 'return "☃"',
      parametersSchema: '{"type":"object"}',
      webhookEnabled: true,
      webhookAllowedAddresses: ['192.0.2.7', '2001:DB8::/32', '::ffff:10.0.0.0/104'],
      formsEnabled: true,
      publicEnabled: true,
      publicToken: 'p'.repeat(22),
      formsTag: 'v1',
      frameAncestors: ['https://example.com', 'http://*.example.org:8080'],
      dependenciesScopedToProcess: true,
      dependenciesAutoDetect: true,
      dependencies: { requests: '==2.32.0', constructor: '1' },
      tags: ['b', 'a'],
    }
    // Its form is told of: it has no version v1 yet.
    const created = { ...(await catalog.process(caller, values)), warnings: [] }
    const read = await catalog.processes.getProcess({ identifier: 'all-of-it' }, caller)
    expect(read).toEqual(created)
    const { sourceCode: _, ...others } = read
    const look = { identifier: 'all-of-it', withoutSource: true }
    expect(await catalog.processes.getProcess(look, caller)).toEqual(others)
    expect(read).toMatchObject({
      name: values.name,
      description: values.description,
      readme: values.readme,
      language: Language.PYTHON,
      sourceCode: values.sourceCode,
      parametersSchema: values.parametersSchema,
      webhook: { enabled: true, allowedAddresses: values.webhookAllowedAddresses },
      settings: { formsEnabled: true, publicEnabled: true, publicToken: 'p'.repeat(22), dependenciesAutoDetect: true },
      tags: ['b', 'a'],
    })
    const { formsTag, frameAncestors } = values
    expect(read.settings).toMatchObject({ formsTag, frameAncestors })
    expect(read.dependencies).toHaveProperty('requests', '==2.32.0')
  })

  test('a name is required and has at most 255 characters, counted as people count them', async () => {
    const caller = await catalog.team()
    expect(await refusal(catalog.processes.createProcess({ values: {} }, caller))).toBe('/name')
    expect(await refusal(catalog.process(caller, { name: '  ' }))).toBe('/name')
    expect(await refusal(catalog.process(caller, { name: 'a'.repeat(256) }))).toBe('/name')
    expect((await catalog.process(caller, { name: '🐙'.repeat(255) })).name).toBe('🐙'.repeat(255))
  })

  test('all that is wrong with it is told at once', async () => {
    const wrong = {
      name: '',
      slug: 'A',
      parametersSchema: '[]',
      webhookUsername: 'u',
      publicToken: 'short',
      dependencies: { 'no name': '1', ms: 'file:x' },
    }
    const error = (await catalog.process(await catalog.team(), wrong).catch((thrown: unknown) => thrown)) as Failure
    expect(error.fields.map(({ path }) => path).toSorted()).toEqual([
      ...['/manifest/dependencies/ms', '/manifest/dependencies/no name', '/name', '/parametersSchema'],
      ...['/settings/publicConfig/token', '/slug', '/webhook/password'],
    ])
  })

  test('all that is wrong with a change is told at once', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.process(caller, { language: Language.PYTHON })
    const values = { name: '', dependencies: { 'no name': '1' }, tags: [''] }
    const update = catalog.processes.updateProcess(
      { identifier: id, values, mask: { paths: Object.keys(values) } },
      caller,
    )
    const error = (await update.catch((thrown: unknown) => thrown)) as Failure
    expect(error.fields.map(({ path }) => path)).toEqual(['/name', '/tags/0', '/manifest/dependencies/no name'])
  })

  test('a public form from before links had tokens gets one, and no other process does', async () => {
    const caller = await catalog.team()
    const open = await catalog.process(caller, { formsEnabled: true, publicEnabled: true })
    const others = [
      await catalog.process(caller, { formsEnabled: true, publicEnabled: true, publicToken: 'p'.repeat(22) }),
      await catalog.process(caller, { formsEnabled: true }),
    ]
    await catalog.sql('UPDATE processes SET public_token = NULL WHERE id = $1', [open.id])
    const migration = new URL('../prisma/migrations/0360_links_of_forms/migration.sql', import.meta.url)
    await catalog.sql(await readFile(migration, 'utf8'))
    const tokenOf = async (identifier: string) =>
      (await catalog.processes.getProcess({ identifier }, caller)).settings?.publicToken
    expect(await tokenOf(open.id)).toMatch(/^[0-9a-f]{64}$/)
    for (const { id, settings } of others) expect(await tokenOf(id)).toBe(settings?.publicToken)
  })

  test('a save tells of a form that runs a version which is not there', async () => {
    const caller = await catalog.team()
    const { id, warnings } = await catalog.process(caller, { formsEnabled: true, formsTag: 'v1' })
    const told = [{ path: '/settings/formsConfig/tag', message: expect.stringContaining('"v1"') }]
    expect(warnings).toMatchObject(told)
    const save = async (values: object) => {
      const mask = {
        paths: Object.keys(values).map((name) => name.replaceAll(/[A-Z]/g, (each) => `_${each.toLowerCase()}`)),
      }
      return (await catalog.processes.updateProcess({ identifier: id, values, mask }, caller)).warnings
    }
    expect(await save({ description: 'the same' })).toMatchObject(told)
    expect(await save({ formsEnabled: false })).toEqual([])
    const version = await catalog.versions.publishVersion({ process: id, tag: 'v1' }, caller)
    await catalog.aliases.createAlias({ process: id, name: 'live', version: version.id }, caller)
    for (const formsTag of ['v1', 'live', version.id]) expect(await save({ formsEnabled: true, formsTag })).toEqual([])
  })

  test('a process is found by its id and by its slug, by its own team only', async () => {
    const caller = await catalog.team()
    const { id, slug } = await catalog.process(caller, { name: 'Findable' })
    expect((await catalog.processes.getProcess({ identifier: id }, caller)).id).toBe(id)
    expect((await catalog.processes.getProcess({ identifier: id.toUpperCase() }, caller)).id).toBe(id)
    expect((await catalog.processes.getProcess({ identifier: slug }, caller)).id).toBe(id)
    const otherTeam = await catalog.team()
    expect(await refusal(catalog.processes.getProcess({ identifier: id }, otherTeam))).toBe('process_not_found')
    expect(await refusal(catalog.processes.getProcess({ identifier: slug }, otherTeam))).toBe('process_not_found')
  })

  test('an identifier that can name nothing is not found, whatever it holds', async () => {
    const caller = await catalog.team()
    for (const identifier of [
      '',
      'no such',
      '\0',
      '%',
      "'",
      'a'.repeat(10_000),
      '00000000-0000-0000-0000-00000000000g',
    ])
      expect(await refusal(catalog.processes.getProcess({ identifier }, caller))).toBe('process_not_found')
  })
})

describe('slugs', () => {
  test('a name that is URL-safe already is the slug, unchanged, up to 255 characters', async () => {
    const caller = await catalog.team()
    for (const name of [`import-${'0123456789abcdef'.repeat(4)}`, 'a', 'x'.repeat(255), 'a--b', '7'])
      expect((await catalog.process(caller, { name })).slug).toBe(name)
  })

  test('any other name is turned URL-safe', async () => {
    const caller = await catalog.team()
    expect((await catalog.process(caller, { name: '  Crème Brûlée / 2 ' })).slug).toBe('creme-brulee-2')
    expect((await catalog.process(caller, { name: 'My_Process.v2' })).slug).toBe('my-process-v2')
    expect((await catalog.process(caller, { name: '東京' })).slug).toMatch(/^process-[a-z0-9]{6}$/)
    expect((await catalog.process(caller, { name: 'É'.repeat(255) })).slug).toBe('e'.repeat(255))
  })

  test('a derived slug that is taken gets a short suffix, and stays within 255 characters', async () => {
    const caller = await catalog.team()
    const name = 'y'.repeat(255)
    await catalog.process(caller, { name })
    const second = await catalog.process(caller, { name })
    expect(second.slug).toMatch(/^y{248}-[a-z0-9]{6}$/)
    const both = await Promise.all([1, 2, 3].map(() => catalog.process(caller, { name: 'Same time' })))
    expect(new Set(both.map(({ slug }) => slug)).size).toBe(3)
  })

  test('an explicit slug that is taken is refused; another team may have it', async () => {
    const caller = await catalog.team()
    await catalog.process(caller, { slug: 'taken' })
    expect(await refusal(catalog.process(caller, { slug: 'taken' }))).toBe('/slug')
    expect((await catalog.process(await catalog.team(), { slug: 'taken' })).slug).toBe('taken')
  })

  test('of many that want one slug at once, one gets it', async () => {
    const caller = await catalog.team()
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => catalog.process(caller, { slug: 'wanted' })))
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('an explicit slug is lower-case letters, digits and inner hyphens, and not the form of an id', async () => {
    const caller = await catalog.team()
    const id = '0198a2c4-0000-7000-8000-000000000000'
    for (const slug of ['Upper', 'a b', '-a', 'a-', 'a_b', 'ä', 'a'.repeat(256), 'a\n', id, id.toUpperCase()])
      expect(await refusal(catalog.process(caller, { slug })), slug).toBe('/slug')
    expect((await catalog.process(caller, { name: id })).slug).toMatch(new RegExp(`^${id}-[a-z0-9]{6}$`))
  })

  test('a slug at which another address is belongs to no process', async () => {
    const caller = await catalog.team()
    expect(await refusal(catalog.process(caller, { slug: 'summaries' }))).toBe('/slug')
    for (const name of ['summaries', 'Summaries!'])
      expect((await catalog.process(caller, { name })).slug).toMatch(/^summaries-[a-z0-9]{6}$/)
    const { id } = await catalog.process(caller, { name: 'old' })
    const change = { identifier: id, values: { slug: 'summaries' }, mask: { paths: ['slug'] } }
    const rename = () => catalog.processes.updateProcess(change, caller)
    expect(await refusal(rename())).toBe('/slug')
    await catalog.withoutTriggers('processes', `UPDATE processes SET slug = 'summaries' WHERE id = $1`, [id])
    expect((await rename()).slug).toBe('summaries')
  })

  test('an empty slug on create counts as absent', async () => {
    const caller = await catalog.team()
    expect((await catalog.process(caller, { name: 'From Form', slug: '' })).slug).toBe('from-form')
  })
})

describe('limits of texts', () => {
  test('sizes are refused with the path of the field', async () => {
    const caller = await catalog.team()
    const big = 'x'.repeat(11 * 1024 * 1024)
    expect(await refusal(catalog.process(caller, { sourceCode: big }))).toBe('/sourceCode')
    expect(await refusal(catalog.process(caller, { readme: big }))).toBe('/readme')
    expect(await refusal(catalog.process(caller, { description: big }))).toBe('/description')
    expect(await refusal(catalog.process(caller, { parametersSchema: big }))).toBe('/parametersSchema')
    expect(await refusal(catalog.process(caller, { tags: ['a', 'b'.repeat(256)] }))).toBe('/tags/1')
    expect(await refusal(catalog.process(caller, { tags: Array.from({ length: 101 }, (_, n) => `${n}`) }))).toBe(
      '/tags',
    )
    const addresses = Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`)
    expect(await refusal(catalog.process(caller, { webhookAllowedAddresses: addresses }))).toBe(
      '/webhook/allowedAddresses',
    )
    expect(await refusal(catalog.process(caller, { language: 9 as Language }))).toBe('/programmingLanguage')
  })

  test('a NUL character is refused in every text, with the path of the field', async () => {
    const caller = await catalog.team()
    const nul = 'a\0b'
    const paths = {
      name: '/name',
      slug: '/slug',
      description: '/description',
      readme: '/readme',
      sourceCode: '/sourceCode',
      parametersSchema: '/parametersSchema',
      webhookUsername: '/webhook/username',
      webhookPassword: '/webhook/password',
      publicToken: '/settings/publicConfig/token',
      formsTag: '/settings/formsConfig/tag',
    }
    for (const origin of [nul, 'example.com', "https://a.b; script-src 'none'", 'https://a.b/path'])
      expect(await refusal(catalog.process(caller, { frameAncestors: ['https://a.b', origin] }))).toBe(
        '/settings/formsConfig/frameAncestors/1',
      )
    for (const [field, path] of Object.entries(paths))
      expect(await refusal(catalog.process(caller, { [field]: nul })), field).toBe(path)
    expect(await refusal(catalog.process(caller, { tags: ['ok', nul] }))).toBe('/tags/1')
    expect(await refusal(catalog.process(caller, { webhookAllowedAddresses: ['::1\0'] }))).toBe(
      '/webhook/allowedAddresses/0',
    )
    expect(await refusal(catalog.process(caller, { dependencies: { ms: nul } }))).toBe('/manifest/dependencies/ms')
    expect(await refusal(catalog.process(caller, { dependencies: { 'a/b\0': '1' } }))).toBe(
      '/manifest/dependencies/a~1b',
    )
  })
})

describe('webhook credentials', () => {
  test('a password is stored as its bcrypt hash of cost 10 and never returned', async () => {
    const caller = await catalog.team()
    const created = await catalog.process(caller, { webhookUsername: 'u', webhookPassword: 'secret-pw' })
    expect(created.webhook).toMatchObject({ enabled: false, username: 'u' })
    expect(
      JSON.stringify(created, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
    ).not.toMatch(/secret-pw|\$2/)
    const [row] = await catalog.sql<{ hash: string }>(
      'SELECT webhook_password_hash AS hash FROM processes WHERE id = $1',
      [created.id],
    )
    expect(row?.hash).toMatch(/^\$2b\$10\$/)
    expect(await compare('secret-pw', row!.hash)).toBe(true)
  })

  test('a username needs a password and a password a username; empty ones are none', async () => {
    const caller = await catalog.team()
    expect(await refusal(catalog.process(caller, { webhookUsername: 'u' }))).toBe('/webhook/password')
    expect(await refusal(catalog.process(caller, { webhookPassword: 'p' }))).toBe('/webhook/username')
    const open = await catalog.process(caller, { webhookUsername: '', webhookPassword: '' })
    expect(open.webhook?.username).toBeUndefined()
  })

  test('what HTTP Basic or bcrypt would cut off is refused', async () => {
    const caller = await catalog.team()
    const password = 'ü'.repeat(37)
    expect(await refusal(catalog.process(caller, { webhookUsername: 'u', webhookPassword: password }))).toBe(
      '/webhook/password',
    )
    expect(await refusal(catalog.process(caller, { webhookUsername: 'a:b', webhookPassword: 'p' }))).toBe(
      '/webhook/username',
    )
  })
})
