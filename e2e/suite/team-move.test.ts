import { cp, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execFile, execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Page, Process, Version } from '../client/records.ts'
import { killedAdmin, repositoryRoot } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { admin as adminOf, ownTeam } from './own-team.ts'
import { makeProcess } from './runs.ts'
import { clientOf } from './client-of.ts'
import { shared } from './shared-system.ts'
import { teamState } from './team-state.ts'

const secret = 'a value that no file may have'

/** A team with all that there is, moved to others of its system; the tests follow each other. */
describe.skipIf(!shared.owned)('a team that is exported', { concurrent: false, timeout: 240_000 }, () => {
  let folder: string
  const clients: Record<string, Client> = {}
  const tokens: Record<string, string> = {}
  const given = { SECRET: secret, CALLED_WEBHOOK_PASSWORD: 'open sesame' }
  const secrets = ['--secret', ...Object.keys(given)]
  const env = { ...shared.own?.env, ...given }
  const admin = (...args: string[]) => adminOf(args, given)
  const signIn = async (team: string) => {
    const { client, apiToken } = await ownTeam(team)
    clients[team] = client
    tokens[team] = apiToken
  }

  beforeAll(async () => {
    const repository = await mkdtemp(join(tmpdir(), 'automation-e2e-move-'))
    // An import is run in a clone of something else, as the guide says.
    for (const args of [['init'], ['remote', 'add', 'origin', 'https://git.example.com/other.git']])
      execFileSync('git', args, { cwd: repository, stdio: 'ignore' })
    folder = join(repository, 'shop')
    await signIn('shop')
    await admin('teams', 'create', 'base')
    await admin('teams', 'grant-parent', 'shop', 'base')
    await admin('teams', 'limit', 'shop', 'running', '7')
    await admin('teams', 'limit', 'shop', 'stored', '123456789')
    await admin('pools', 'create', 'tills', '--team', 'shop', '--label', 'till=1')
    await fill(clients['shop']!)
  }, 240_000)
  afterAll(async () => {
    await rm(join(folder, '..'), { recursive: true, force: true })
  })

  test('is a folder without any secret, also after an export that was killed, and while the team is suspended', async () => {
    await admin('teams', 'suspend', 'shop', '--reason', 'it moves')
    await killedAdmin(['teams', 'export', 'shop', '--out', folder], env, 'Versions')
    await expect(readdir(folder)).rejects.toThrow('ENOENT')
    const { code, stderr } = await admin('teams', 'export', 'shop', '--out', folder, '--executions')
    expect(code, stderr).toBe(0)
    expect((await admin('teams', 'export', 'shop', '--out', folder)).code).toBe(1)
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile())
    const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
    expect(texts.join('\n')).not.toMatch(/a value that no file|open sesame|a\.example/)
    expect(await readFile(join(folder, 'processes/called/main.js'), 'utf8')).toContain('now')
    const again = await readFile(join(folder, 'team-data/SET-AGAIN.md'), 'utf8')
    expect(again).toMatch(/Sensitive variables.*SECRET/)
    expect(again).toMatch(/Passwords of webhooks.*called/)
    expect(again).toMatch(/API tokens of service accounts.*ci, .*viewer|API tokens of service accounts.*viewer, ci/)
    expect(again).toMatch(/Callback URLs of schedules.*nightly/)
    expect(again).toMatch(/Parents.*base[^]*Allowed addresses.*127\.0\.0\.0\/8/)
    const executions = (await readFile(join(folder, 'team-data/executions.ndjson'), 'utf8')).trim().split('\n')
    expect(executions.length).toBeGreaterThan(0)
    const left = JSON.parse((await admin('--json', 'tokens', 'list', 'shop')).stdout) as { revokedAt?: string }[]
    expect(left.filter(({ revokedAt }) => revokedAt === undefined)).toHaveLength(3)
    await admin('teams', 'resume', 'shop')
  })

  test('answers in another team as before, also where the import was killed, and a second import changes nothing', async () => {
    // No two pools of an installation have the same name.
    await admin('pools', 'delete', 'tills')
    const tokensFile = join(folder, '../tokens.ndjson')
    const options = ['--operator-settings', '--api-tokens', tokensFile, ...secrets]
    const wanted = ['teams', 'import', folder, '--team', 'moved', ...options]
    await killedAdmin(wanted, env, 'done')
    // What the killed one had asked for last may still be done, and meets the same wish of the next one.
    const imported = async () => {
      const { code, stderr } = await admin(...wanted)
      if (!stderr.includes('Do it again')) expect(code, stderr).toBe(0)
      return code === 0
    }
    await waitUntil('the import to be done', imported, { timeoutMs: 60_000 })
    await signIn('moved')
    await waitUntil(
      'the suspension to be over',
      async () => (await answersOf(shared.host, 'shop', clients['shop']!)).now === 'now of its own 1 secret shared',
      { timeoutMs: 20_000, everyMs: 200 },
    )
    const before = await answersOf(shared.host, 'shop', clients['shop']!)
    expect(before).toMatchObject({ live: 'first', v2: 'second', refused: 401, mark: 1 })
    expect(await answersOf(shared.host, 'moved', clients['moved']!)).toEqual(before)
    const pools = JSON.parse((await admin('--json', 'pools', 'list')).stdout) as object[]
    expect(pools).toMatchObject([{ name: 'tills', team: 'moved', labels: { till: '1' } }])
    await admin('pools', 'delete', 'tills')
    // A replica knows of limits and pools within seconds.
    await waitUntil(
      'the same state',
      async () => {
        const [moved, shop] = [await teamState(clients['moved']!), await teamState(clients['shop']!)]
        return JSON.stringify([moved['limits'], moved['pools']]) === JSON.stringify([shop['limits'], shop['pools']])
      },
      { timeoutMs: 20_000, everyMs: 500 },
    )
    const state = await teamState(clients['moved']!)
    expect(state).toEqual(await teamState(clients['shop']!))
    expect(state['limits']).toEqual(
      expect.arrayContaining([
        { name: 'running', allowed: 7 },
        { name: 'stored', allowed: 123_456_789 },
      ]),
    )

    expect((await stat(tokensFile)).mode & 0o777).toBe(0o600)
    const lines = (await readFile(tokensFile, 'utf8')).trim().split('\n')
    const made = lines.map((line) => JSON.parse(line) as { name: string; scopes: string[]; apiToken: string })
    expect(made.map(({ name, scopes }) => [name, ...scopes])).toEqual(
      expect.arrayContaining([
        ['ci', 'read', 'build'],
        ['viewer', 'read'],
      ]),
    )
    const viewer = made.find(({ name }) => name === 'viewer')!
    const asViewer = await clientOf({ host: shared.host, team: 'moved', apiToken: viewer.apiToken })
    expect((await asViewer.get('/processes')).status).toBe(200)

    const settled = await revisionsOf(clients['moved']!)
    const again = await admin(...wanted)
    expect(again.stderr).toContain('has it all')
    expect(await revisionsOf(clients['moved']!)).toEqual(settled)
  })

  test('takes nothing from a team that has a process of the same slug', async () => {
    await signIn('taken')
    const own = { slug: 'called', name: 'own', sourceCode: 'return "own"', tags: ['own'] }
    await clients['taken']!.post('/processes', own)
    const { code, stderr } = await admin('teams', 'import', folder, '--team', 'taken', ...secrets)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('process/called') })
    expect((await clients['taken']!.get<Process>('/processes/called')).body).toMatchObject(own)
  })

  test('is what pas push reads; without their secrets, webhooks are off and variables left out', async () => {
    await signIn('pushed')
    const env = { ...process.env, ...given, PAS_URL: shared.host, PAS_TEAM: 'pushed', PAS_TOKEN: tokens['pushed'] }
    // Schedules that name versions wait for these, which `pas push` does not publish.
    const args = [join(repositoryRoot, 'apps/cli/src/main.ts'), 'push', 'processes/called', '--yes']
    await expect(run(args, { cwd: folder, env })).rejects.toThrow(
      /done {2}create process\/called[^]*failed {2}schedule\/called\/nightly: .*no version or alias "v1"/,
    )
    const pushed = await clients['pushed']!.get<Process>('/processes/called')
    const shop = await clients['shop']!.get<Process>('/processes/called')
    expect(pushed.body.sourceDigest).toBe(shop.body.sourceDigest)

    const { stdout, stderr, code } = await admin('teams', 'import', folder, '--team', 'bare')
    expect(code, stdout + stderr).toBe(0)
    expect(stderr).toMatch(/variable\/SECRET[\s\S]*process\/called|process\/called[\s\S]*variable\/SECRET/)
    expect(stderr).toContain('ci (read,build, until 2099-01-31T12:00:00')
    expect(stderr).toContain('admin teams grant-parent bare base')
    expect(stderr).toMatch(/Not taken.*limit running 7.*pool tills.*parent base.*--operator-settings/)
    await signIn('bare')
    expect((await clients['bare']!.get<Process>('/processes/called')).body.webhook.enabled).toBe(false)
  })

  test('says that allowed addresses which would lock out its importer are not set', async () => {
    const elsewhere = join(folder, '../elsewhere')
    await cp(folder, elsewhere, { recursive: true })
    // Exports of former releases have none of these.
    for (const name of ['service-accounts.ndjson', 'origins.ndjson', 'operator.json'])
      await rm(join(elsewhere, 'team-data', name))
    const settings = join(elsewhere, 'team-data/settings.json')
    await writeFile(settings, (await readFile(settings, 'utf8')).replaceAll(/127\.0\.0\.0\/8|::1/g, '203.0.113.9'))
    const { code, stderr } = await admin('teams', 'import', elsewhere, '--team', 'elsewhere', ...secrets)
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/Allowed addresses: .*203\.0/) })
  })

  test.each(['a name', 'a link'])('that was forged brings in no file of who imports it, by %s', async (how) => {
    const forged = await mkdtemp(join(tmpdir(), 'automation-e2e-forged-'))
    await cp(folder, forged, { recursive: true })
    const objects = join(forged, 'team-data/objects.ndjson')
    const [first = ''] = (await readFile(objects, 'utf8')).split('\n')
    const { file } = JSON.parse(first) as { file: string }
    if (how === 'a name')
      await writeFile(objects, first.replace(`"${file}"`, '"../settings.json"').replace(/"md5Hash":"./, '"md5Hash":"-'))
    else {
      await writeFile(objects, first.replace(/"md5Hash":"./, '"md5Hash":"-'))
      await rm(join(forged, 'team-data/objects', file))
      await symlink(join(forged, 'team-data/settings.json'), join(forged, 'team-data/objects', file))
    }
    const { code, stderr } = await admin('teams', 'import', forged, '--team', 'forged', ...secrets)
    expect(code).toBe(1)
    expect(stderr).toContain('is no file of an export')
    await rm(forged, { recursive: true })
  })
})

function run(args: string[], options: { cwd: string; env: Record<string, string | undefined> }): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  execFile(process.execPath, args, options, (error, stdout, stderr) => {
    if (error) reject(new Error(`${stdout}\n${stderr}`, { cause: error }))
    else resolve(`${stdout}${stderr}`)
  })
  return promise
}

/** Uses every kind of thing that a team has. */
async function fill(by: Client): Promise<void> {
  const done = async <T>(method: string, path: string, json: unknown) => {
    const answer = await by.call<T>(method, path, { json })
    expect(answer.status, `${path} ${answer.text}`).toBeLessThan(300)
    return answer.body
  }
  const origin = { repository: 'https://git.example.com/shop.git', commit: 'abc', digest: 'sha256:def' }
  await done('POST', '/modules', { name: 'shared', sourceCode: "exports.word = 'shared'", origin })
  const [module] = (await by.get<Page<{ id: string }>>('/modules')).body.data
  await done('POST', `/modules/${module!.id}/versions`, { tag: 'm1' })
  await done('POST', '/variables', { key: 'SECRET', value: secret, isSensitive: true })
  await done('POST', '/variables', { key: 'PLAIN', value: '1', isSensitive: false })
  await by.call('PUT', '/dependencies/JAVASCRIPT', { json: { dependencies: { own: '*' } } })
  await by.call('POST', '/dependencies/JAVASCRIPT/install')
  await waitUntil(
    'the installation',
    async () => !('nextInstallation' in (await by.get<object>('/dependencies/JAVASCRIPT')).body),
    { timeoutMs: 60_000, everyMs: 100 },
  )
  const called = await makeProcess(
    {
      name: 'called',
      sourceCode: "return 'first'",
      webhook: { enabled: true, username: 'ann', password: 'open sesame' },
    },
    by,
  )
  const path = `/processes/${called.id}`
  const v1 = await done<Version>('POST', `${path}/versions`, { tag: 'v1', comment: 'The first' })
  await done('PATCH', path, { sourceCode: "return 'second'" })
  const v2 = await done<Version>('POST', `${path}/versions`, { tag: 'v2' })
  const live = await done<{ id: string }>('POST', `${path}/aliases`, { name: 'live', versionId: v2.id })
  await done('PATCH', `${path}/aliases/${live.id}`, { versionId: v1.id })
  const sourceCode = `const { word } = await svc.import('shared', 'm1')
const mark = (await svc.datastore.get('mark')) ?? null
if (mark === null && svc.context.parameters.marks) await svc.datastore.set('mark', 1)
const kind = svc.env.SECRET ? 'secret' : 'none'
return ['now', require('own'), svc.env.PLAIN, kind, word].join(' ')`
  await done('PATCH', path, { sourceCode, readme: '# Called', tags: ['a'], description: 'It is called', origin })
  await done('POST', `${path}/execute-sync`, { parameters: { marks: true } })
  const settings = {
    agentPoolSlug: 'slow',
    timeout: 45_000,
    freshProcess: true,
    callbackUrl: 'https://a.example/?key=k',
  }
  const input = { tag: v1.id, comment: 'nightly', parameters: { a: 1 }, settings }
  await done('POST', `${path}/schedule`, { cron: '0 4 * * *', allowConcurrentExecutions: true, input })
  await done('POST', `${path}/schedule`, { dateTime: '2098-05-01T08:00:00Z', paused: true, input: { tag: 'live' } })
  await makeProcess({ name: 'mender', sourceCode: 'return 1' }, by)
  await done('POST', '/auth/service-accounts', {
    name: 'ci',
    scopes: ['read', 'build'],
    expiresAt: '2099-01-31T12:00:00Z',
  })
  await done('POST', '/auth/service-accounts', { name: 'viewer', scopes: ['read'] })
  await done('PATCH', '/team', {
    name: 'The shop',
    parentTeamSlugs: ['base'],
    allowedAddresses: ['127.0.0.0/8', '::1'],
    zoneId: 'Europe/Berlin',
    paramsSchemaValidationEnabled: true,
    errorHandlerConfig: { processSlug: 'mender' },
  })
  for (const name of ['reports/a.txt', 'odd name, ü.txt', 'reports']) {
    const stored = { query: { filename: name }, body: `content of ${name}`, headers: { 'content-type': 'text/x-own' } }
    expect((await by.call('POST', '/storage/objects', stored)).status).toBeLessThan(300)
  }
}

/** What a team's webhook, versions, aliases, files and datastore say. */
async function answersOf(host: string, team: string, by: Client) {
  const call = async (headers: Record<string, string>) => {
    const response = await fetch(`${host}/api/${team}/webhooks/called`, { headers })
    const text = await response.text()
    if (response.status === 401) return 401
    return text.startsWith('"') ? (JSON.parse(text) as string) : text
  }
  const authorization = `Basic ${Buffer.from('ann:open sesame').toString('base64')}`
  const [entry] = (await by.get<Page<{ value: unknown }>>('/datastore')).body.data
  const files = (
    await by.get<{ name: string; size: number; md5Hash: string; contentType: string }[]>('/storage/objects')
  ).body
  return {
    now: await call({ authorization }),
    live: await call({ authorization, 'Svc-Version-Tag': 'live' }),
    v2: await call({ authorization, 'Svc-Version-Tag': 'v2' }),
    refused: await call({}),
    mark: entry?.value,
    files: files.map(({ name, size, md5Hash, contentType }) => ({ name, size, md5Hash, contentType })),
  }
}

/** Changes with each edit of anything. */
async function revisionsOf(by: Client) {
  const paths = [
    '/processes',
    '/modules',
    '/variables',
    '/schedules',
    '/team',
    '/storage/objects',
    '/processes/called/versions',
    '/processes/called/aliases',
    '/dependencies/JAVASCRIPT/installs',
    '/datastore',
    '/auth/service-accounts',
  ]
  return Promise.all(paths.map(async (path) => (await by.get(path)).text))
}
