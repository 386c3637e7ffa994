import { readFile, stat, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { freePorts, testDatabase } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  admin,
  embeddedMain,
  ownEnvironment,
  pasted,
  runProgramToEnd,
  startProgram,
  type RunningProgram,
  type Values,
  metricsAt,
  metricsInDocs,
} from './started.ts'

const lastCommand = 'hi?name=world'

let values: Values
let system: RunningProgram
let remove: () => Promise<void>

beforeAll(async () => {
  const own = await ownEnvironment()
  values = { ...own.values, SHUTDOWN_GRACE_MS: '60000' }
  remove = own.remove
  system = startProgram(embeddedMain, values)
  await system.said(lastCommand)
})

afterAll(async () => {
  system.child.kill('SIGKILL')
  await system.ended
  await remove()
})

test('the first start tells address, team and token, and keeps the token', async () => {
  const token = (await readFile(join(values['DATA_DIR'] ?? '', 'bootstrap-token'), 'utf8')).trim()
  expect(system.output.stdout).toContain(`http://localhost:${values['PORT']}`)
  expect(system.output.stdout).toContain('demo')
  expect(system.output.stdout).toContain(token)
  for (const name of ['internal-key', 'encryption-key', 'bootstrap-token', 'admin.sock'])
    expect((await stat(join(values['DATA_DIR'] ?? '', name))).mode & 0o777).toBe(0o600)
})

test('three short commands on one screen work as they are pasted', async () => {
  const lines = system.output.stdout.split('\n')
  expect(lines.length).toBeLessThanOrEqual(24)
  const given = commands(system.output.stdout)
  expect(given.filter((command) => command.length > 200)).toEqual([])
  const [token = '', create = '', run = '', ...more] = given
  expect(more).toEqual([])
  const { stdout } = await pasted([token, create, 'echo', run, 'echo', 'echo $base'].join('\n'))
  const [made = '', answer, base] = stdout.split('\n')
  expect(JSON.parse(made)).toMatchObject({ slug: 'hi' })
  expect(answer).toBe('Hi world')
  // As the guides have it.
  expect(base).toBe(`http://localhost:${values['PORT']}/api/demo/rest`)
})

test('the screen says what isolation there is, and where health and metrics are', async () => {
  expect(system.output.stdout).toMatch(/^ {2}isolation {2}(namespaces|pod|none)\b/m)
  const health = /^ {2}health {5}(\S+\/readyz)/m.exec(system.output.stdout)?.[1] ?? ''
  expect(await (await fetch(health)).json()).toMatchObject({ status: 'ready', checks: expect.any(Array) })
})

test('a port that is taken is named with its settings, whoever has it', async () => {
  const taken = values['PORT'] ?? ''
  const [twice = 0] = await freePorts(1)
  const another = (setting: string) => `Port ${taken} (${setting}) is taken by another program`
  const cases = [
    [another('PORT'), { PORT: taken }],
    [another('SANDBOX_PUBLIC_PORT'), { PORT: '0', SANDBOX_PUBLIC_PORT: taken }],
    [another('HEALTH_PORT'), { PORT: '0', HEALTH_PORT: taken, RUNNER_CLOSED_PORTS: taken }],
    [
      `Port ${twice} is that of HEALTH_PORT and of SANDBOX_PUBLIC_PORT`,
      { PORT: '0', HEALTH_PORT: `${twice}`, SANDBOX_PUBLIC_PORT: `${twice}` },
    ],
  ] as const
  await Promise.all(
    cases.map(async ([said, ports]) => {
      const own = await ownEnvironment()
      // A database that is there already: making one takes longer than all else.
      const database = await testDatabase()
      const given = { ...own.values, DATABASE_URL: database.url, ...ports }
      const { code, stderr } = await runProgramToEnd(embeddedMain, given)
      expect(stderr).toContain(said)
      expect(code).toBe(1)
      await own.remove()
      await database.drop()
    }),
  )
})

test('an address that the machine does not have is named with its setting', async () => {
  const cases = [
    ['This machine has no address 192.0.2.1 (HOST)', { HOST: '192.0.2.1' }],
    ['This machine has no address no..name (HOST)', { HOST: 'no..name' }],
    ['This machine has no address 192.0.2.1 (INTERNAL_HOST)', { INTERNAL_HOST: '192.0.2.1' }],
  ] as const
  await Promise.all(
    cases.map(async ([said, hosts]) => {
      const own = await ownEnvironment()
      const database = await testDatabase()
      const { code, stderr } = await runProgramToEnd(embeddedMain, {
        ...own.values,
        DATABASE_URL: database.url,
        ...hosts,
      })
      expect(stderr).toContain(said)
      expect(code).toBe(1)
      await own.remove()
      await database.drop()
    }),
  )
})

test('where Python is too old for Python processes, the screen says so', async () => {
  const python = join(values['DATA_DIR'] ?? '', 'python')
  await writeFile(python, '#!/bin/sh\necho /usr/bin/python3\necho 3.10.9\n', { mode: 0o755 })
  await withAnother({ RUNNER_PYTHON: python }, async ({ output }) => {
    expect(output.stdout).toMatch(/^ {2}python {5}Python processes need Python 3\.11 or later; .*3\.10\.9/m)
  })
  expect(system.output.stdout).not.toMatch(/^ {2}python /m)
})

const hasIpv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'))

test.skipIf(!hasIpv6)('it serves at addresses of IPv6, and tells them as programs take them', async () => {
  await withAnother({ HOST: '::1', INTERNAL_HOST: '::1' }, async ({ output }, port) => {
    const health = /^ {2}health {5}(\S+\/readyz)/m.exec(output.stdout)?.[1] ?? ''
    expect(await (await fetch(health)).json()).toMatchObject({ status: 'ready' })
    expect((await fetch(`http://[::1]:${port}/readyz`)).status).toBe(200)
  })
})

/** With another system, on a database that is there already, until `look` is through. */
async function withAnother(given: Values, look: (other: RunningProgram, port: string) => Promise<void>): Promise<void> {
  const own = await ownEnvironment()
  const database = await testDatabase()
  const other = startProgram(embeddedMain, { ...own.values, DATABASE_URL: database.url, ...given })
  try {
    await other.said(lastCommand)
    await look(other, own.values['PORT'] ?? '')
  } finally {
    other.child.kill('SIGTERM')
    await other.ended
    await own.remove()
    await database.drop()
  }
}

test('every metric that it tells has a line in docs/reference/metrics.md', async () => {
  const names = await metricsAt(`http://localhost:${values['HEALTH_PORT']}`)
  expect(names).toEqual(expect.arrayContaining(['execution_running', 'storage_objects', 'runner_slots']))
  const documented = await metricsInDocs()
  expect(names.filter((name) => !documented.includes(name))).toEqual([])
})

test('a second start on the same data folder says who holds it', async () => {
  const { code, stderr } = await runProgramToEnd(embeddedMain, { ...values, PORT: '1' })
  expect(code).toBe(1)
  expect(stderr).toContain(`process ${system.child.pid}`)
  expect(stderr).toContain(`http://localhost:${values['PORT']}`)
})

test('the admin command finds the running system by its data folder', async () => {
  expect(await admin(values, 'teams', 'create', 'acme')).toMatchObject({ code: 0 })
  const { stdout, code } = await admin(values, 'tokens', 'create', 'acme', '--name', 'ci')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^sk-[A-Za-z0-9+/]+=*\n$/)
  expect((await exchange('acme', stdout.trim())).status).toBe(200)
  expect(await admin(values, 'keys', 'rotate')).toMatchObject({ code: 0 })
})

test('the admin command tells that all secrets have the first key, whoever keeps them', async () => {
  const { stdout, code } = await admin(values, 'rotate-encryption-key', '--json')
  expect(code).toBe(0)
  const { secrets, ...answer } = JSON.parse(stdout) as { secrets: { kind: string; onOlderKeys: number }[] }
  expect(answer).toEqual({ keyId: expect.stringMatching(/^[0-9a-f]{8}$/), olderKeysCanBeRemoved: true })
  expect(secrets.map(({ kind }) => kind)).toEqual(['variables', 'signing keys', 'console sessions', 'sandboxes'])
})

test('admin commands that fail say why on stderr, with exit code 1', async () => {
  const [taken, unknown, incomplete, wrong] = await Promise.all([
    admin(values, 'teams', 'create', 'demo'),
    admin(values, 'tokens', 'create', 'nobody', '--json'),
    admin(values, 'tokens', 'create'),
    admin(values, 'teams', 'limit', 'demo', 'running', 'many'),
  ])
  expect(taken).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('exists') })
  expect(unknown).toMatchObject({ code: 1, stdout: '' })
  expect(JSON.parse(unknown.stderr)).toMatchObject({ error: { code: 'team_not_found' } })
  expect(incomplete).toMatchObject({ code: 1, stdout: '' })
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('must be a whole number') })
})

test('killed and started again it recovers; the banner keeps the token to itself and the command still works', async () => {
  system.child.kill('SIGKILL')
  await system.ended
  system = startProgram(embeddedMain, values)
  await system.said(lastCommand)
  expect(system.output.stdout).not.toContain('sk-')
  const [token = '', run = '', list = ''] = commands(system.output.stdout)
  const { stdout } = await pasted([token, 'echo $token', run, 'echo', list].join('\n'))
  const [exchanged, answer, listed = ''] = stdout.split('\n')
  expect(exchanged).toMatch(/^eyJ/)
  expect(answer).toBe('Hi world')
  expect(JSON.parse(listed)).toMatchObject({ data: [{ processName: 'hi', status: 'FINISHED' }] })
})

test('stopped it ends at once when nothing runs, and the admin command then opens the database itself', async () => {
  const startedMs = performance.now()
  system.child.kill('SIGTERM')
  expect(await system.ended).toMatchObject({ code: 0 })
  expect(performance.now() - startedMs).toBeLessThan(30_000)
  const { stdout } = await admin(values, 'teams', 'list', '--json')
  expect((JSON.parse(stdout) as { slug: string }[]).map(({ slug }) => slug).toSorted()).toEqual(['acme', 'demo'])
})

test('after a change of keys the admin command encrypts all anew, and the former key can be removed', async () => {
  const file = join(values['DATA_DIR'] ?? '', 'encryption-key')
  const former = (await readFile(file, 'utf8')).trim()
  const next = 'a new key of this test that is long enough'
  await writeFile(file, `${next},${former}\n`)
  const rotated = await admin(values, 'rotate-encryption-key')
  expect(rotated).toMatchObject({ code: 0, stdout: expect.stringContaining('The other keys can be removed') })
  await writeFile(file, `${next}\n`)
  expect(await admin(values, 'rotate-encryption-key', '--status')).toMatchObject({ code: 0 })
})

/** What the screen gives to be pasted. */
function commands(text: string): string[] {
  return text.split('\n').filter((line) => /^(host=|curl )/.test(line))
}

function exchange(team: string, token: string): Promise<Response> {
  return fetch(`http://localhost:${values['PORT']}/api/${team}/rest/auth/token`, {
    method: 'POST',
    headers: { 'x-api-token': token },
  })
}
