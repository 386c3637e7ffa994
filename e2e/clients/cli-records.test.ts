import { describe, expect, test } from 'vitest'
import { pas, pasJson } from './cli.ts'
import { clientAt, system, unique } from './installed.ts'

const client = clientAt()

test.each([
  ['context list'],
  ['executions list'],
  ['webhooks list'],
  ['schedules list'],
  ['processes list'],
  ['modules list'],
  ['vars list'],
  ['deps list --installs'],
  ['storage ls'],
  ['sandbox ls'],
  ['tokens list'],
  ['team list'],
  ['audit'],
])('pas %s gives words, and a list of JSON with --json', async (line) => {
  const words = await pas(line.split(' '))
  expect([words.code, words.stdout + words.stderr]).toEqual([0, expect.stringMatching(/\S/)])
  expect(await pasJson(line.split(' '))).toBeInstanceOf(Array)
})

describe('processes', () => {
  test('are listed by text and tag, shown, and deleted once the question is answered', async () => {
    const [name, other] = [unique('listed'), unique('other')]
    await client.processes.create({ name, sourceCode: 'return 1', tags: [name, 'crm'] })
    await client.processes.create({ name: other, sourceCode: 'return 2', tags: ['crm'] })
    const slugs = async (...options: string[]) =>
      (await pasJson<{ slug: string }[]>(['processes', 'list', ...options])).map(({ slug }) => slug)
    expect(await slugs()).toEqual(expect.arrayContaining([name, other]))
    expect(await slugs('--search', name)).toEqual([name])
    expect(await slugs('--tag', name)).toEqual([name])
    expect((await pas(['processes', 'list', '--tag', `${name},none`])).stdout).toMatch(
      new RegExp(`^SLUG .*\\n${name} +JAVASCRIPT +${name},crm +off `),
    )
    expect((await pas(['processes', 'list', '--search', unique('nothing')])).stderr).toContain('no such processes')
    expect((await pas(['processes', 'show', name])).stdout).toBe('return 1\n')
    expect(await pasJson(['processes', 'show', name])).toMatchObject({ slug: name, tags: [name, 'crm'] })
    expect(await pas(['processes', 'delete', name])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes'),
    })
    const deleted = await pasJson(['processes', 'delete', name, other, '--yes'])
    expect(deleted).toMatchObject([
      { slug: name, deleted: true },
      { slug: other, deleted: true },
    ])
    expect(await pas(['processes', 'show', name])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('pas processes list'),
    })
  })

  test('have versions, aliases and modules whose deletion tells scripts what is gone', async () => {
    const name = unique('published')
    await client.processes.create({ name, sourceCode: 'return 1' })
    await client.modules.create({ name, sourceCode: 'export const one = 1' })
    for (const of of [name, `module:${name}`]) {
      expect(await pasJson(['versions', 'publish', of, 'v1'])).toMatchObject({ tag: 'v1' })
      expect(await pasJson(['aliases', 'set', of, 'live', 'v1'])).toMatchObject({ name: 'live' })
      expect(await pasJson(['aliases', 'list', of])).toMatchObject([{ name: 'live', tag: 'v1' }])
      expect(await pasJson(['aliases', 'delete', of, 'live', '--yes'])).toMatchObject({ alias: 'live', deleted: true })
      expect(await pasJson(['versions', 'list', of])).toMatchObject([{ tag: 'v1' }])
      expect(await pasJson(['versions', 'delete', of, 'v1', '--yes'])).toMatchObject({ tag: 'v1', deleted: true })
    }
    expect((await pas(['modules', 'show', name])).stdout).toBe('export const one = 1\n')
    expect(await pasJson(['modules', 'users', name])).toEqual([])
    expect(await pasJson(['modules', 'delete', name, '--yes'])).toMatchObject({ name, deleted: true })
  })
})

test('a tag that the service does not take is refused with what it takes', async () => {
  const name = unique('tagged')
  await client.processes.create({ name, sourceCode: 'return 1' })
  const refused = await pas(['versions', 'publish', name, 'bad tag'])
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('1 to 100 letters, digits, dots')])
  expect(await pas(['aliases', 'set', name, 'a/b', 'v1'])).toMatchObject({ code: 2 })
  expect(await pas(['release', '0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('form of an id'),
  })
  await client.processes.versions.publish(name, { tag: 'v1' })
  const taken = await pas(['versions', 'publish', name, 'v1'])
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringMatching(/has a version v1[^]*choose another/)])
})

test('webhooks that are enabled are listed with their addresses, and their calls with the reason of a refusal', async () => {
  const name = unique('hook')
  const webhook = { enabled: true, username: 'u', password: 'p' }
  await client.processes.create({ name, sourceCode: 'return 1', webhook })
  const hooks = await pasJson<{ process: string; url: string }[]>(['webhooks', 'list'])
  const url = `${system.host}/api/${system.team}/webhooks/${name}`
  expect(hooks.find(({ process }) => process === name)).toMatchObject({ url, username: 'u' })
  expect(JSON.stringify(hooks)).not.toContain('"p"')
  const refused = await pas(['webhooks', 'send', name])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`pas webhooks deliveries ${name}`)])
  const deliveries = () => pasJson<{ status: number; reason?: string }[]>(['webhooks', 'deliveries', name])
  await expect.poll(deliveries, { timeout: 20_000 }).toMatchObject([{ status: 401, reason: expect.any(String) }])
})

test('a schedule is shown, its times are listed, and it is deleted', async () => {
  const name = unique('timed')
  await client.processes.create({ name, sourceCode: 'return 1' })
  const { id } = await client.schedules.create(name, { cron: '0 8 1 1 *' })
  expect((await pas(['schedules', 'show', id])).stdout).toMatch(/^id +\S+\n[^]*^cron +0 8 1 1 \*$/m)
  expect(await pasJson(['schedules', 'firings', id])).toEqual([])
  expect(await pas(['schedules', 'delete', id])).toMatchObject({ code: 2 })
  expect(await pasJson(['schedules', 'delete', id, '--yes'])).toEqual([{ id, deleted: true }])
  expect(await pas(['schedules', 'show', id])).toMatchObject({ code: 1 })
})

test('the value of a variable is printed, unless it is sensitive', async () => {
  const [plain, secret] = [unique('PLAIN'), unique('SECRET')].map((name) => name.replaceAll('-', '_')) as [
    string,
    string,
  ]
  await client.variables.create({ key: plain, value: 'a value' })
  await client.variables.create({ key: secret, value: 'canary', isSensitive: true })
  expect((await pas(['vars', 'get', plain])).stdout).toBe('a value\n')
  const refused = await pas(['vars', 'get', secret])
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('sensitive') })
  expect((await pas(['vars', 'get', 'NO_SUCH'])).stderr).toContain('pas vars list')
})

test('a sandbox is shown without its key', async () => {
  await using box = await client.sandboxes.create({ imageId: 'base', timeoutMs: 60_000 })
  expect(await pasJson(['sandbox', 'show', box.id])).toMatchObject({ id: box.id, status: 'RUNNING' })
  const { stdout } = await pas(['sandbox', 'show', box.id])
  expect(stdout).toContain(box.id)
  expect(stdout).not.toContain(box.grpcApiKey)
})
