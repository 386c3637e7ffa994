import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fitting, printedBy, stepsIn } from '@automation/testing/guide'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { ownTeam, type OwnTeam } from './own-team.ts'
import { program, pushed, sourceOf as path, unique, Workspace } from './workspace.ts'

const root = resolve(import.meta.dirname, '../../../..')

let system: OwnTeam
let home: string
beforeAll(async () => {
  system = await ownTeam('daily-work')
  home = await mkdtemp(join(tmpdir(), 'pas-guide-'))
  await mkdir(join(home, 'bin'))
  await writeFile(join(home, 'bin/pas'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 })
  await writeFile(join(home, 'token.txt'), system.apiToken)
}, 150_000)
afterAll(async () => {
  await rm(home, { recursive: true })
  await system.leave()
})

const environment = () => ({
  ...{ HOME: home, XDG_CONFIG_HOME: join(home, 'config'), PATH: `${join(home, 'bin')}:${process.env['PATH']}` },
  ...{
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  },
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
})

test('the commands of the guide do what it says, one behind the other', { timeout: 180_000 }, async () => {
  const steps = stepsIn(await readFile(join(root, 'docs/guides/team-in-git.md'), 'utf8'))
  const here = steps.map(({ commands }) =>
    commands.replaceAll('http://localhost:8080', system.host).replaceAll('--team demo', `--team ${system.team}`),
  )
  const printed = await printedBy(here, home, environment())
  for (const [index, { shown }] of steps.entries())
    if (shown !== undefined) expect(printed[index]).toMatch(fitting(shown))
  expect(printed.join('')).toMatch(/"gross": 59.5\n[^]*merged +process\/invoice[^]*live +r1/)
  expect(parse(await readFile(join(home, 'shop/.github/workflows/team.yml'), 'utf8'))).toMatchObject({
    concurrency: { group: 'team-${{ github.ref }}' },
    jobs: {
      team: {
        if: expect.stringContaining('head.repo.full_name == github.repository'),
        steps: expect.arrayContaining([
          expect.objectContaining({ with: expect.objectContaining({ key: expect.stringContaining('run_attempt') }) }),
        ]),
      },
    },
  })
  await expect(system.client.processes.get('invoice')).rejects.toMatchObject({ status: 404 })
})

describe('release', () => {
  test('publishes what has changed under one tag, moves the alias last, and goes on where it was cut', async () => {
    const [changed, unchanged] = [unique('changed'), unique('unchanged')]
    await using workspace = await pushed(system, changed)
    await workspace.write(path(unchanged), 'return 1\n')
    await workspace.commit()
    await workspace.pas('push', '--yes')
    const first = await workspace.pas('release', 'v1', '--alias', 'live', '--yes', '--json')
    expect([first.code, first.stdout.split('\n').at(-2)]).toEqual([0, '{"type":"end","done":4}'])
    await workspace.write(path(changed), 'return 2\n')
    await workspace.commit()
    expect(await workspace.pas('release', 'v2', '--alias', 'live', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('push or pull first'),
    })
    await workspace.pas('push', '--yes')
    // As a release leaves it that was cut before it moved the alias.
    await system.client.processes.versions.publish(changed, { tag: 'v2' })
    expect(await aliasOf(changed)).toBe('v1')
    const ended = await workspace.pas('release', 'v2', '--alias', 'live', '--yes')
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^done {2}move alias\S+ v2\n$/) })
    expect([await aliasOf(changed), await aliasOf(unchanged)]).toEqual(['v2', 'v1'])
    expect(await workspace.pas('release', 'v2', '--alias', 'live', '--yes')).toMatchObject({
      stderr: expect.stringMatching(/^Nothing to do/),
    })
    // A tag is never given to another source.
    await workspace.write(path(changed), 'return 3\n')
    await workspace.commit()
    await workspace.pas('push', '--yes')
    expect(await workspace.pas('release', 'v2', '--alias', 'live', '--yes')).toMatchObject({ code: 3 })
    expect(await workspace.pas('rollback', 'live', 'v1', '--yes')).toMatchObject({ code: 0 })
    expect([await aliasOf(changed), await aliasOf(unchanged)]).toEqual(['v1', 'v1'])
  })

  test('a rollback follows the versions that the alias led to, and says where there is none', async () => {
    const slug = unique('rolled')
    const own = await ownTeam('rollbacks')
    onTestFinished(own.leave)
    await using workspace = await pushed(own, slug)
    const release = async (tag: string, ...more: string[]) => {
      await workspace.write(path(slug), `return "${tag}"\n`)
      await workspace.commit()
      await workspace.pas('push', '--yes')
      expect(await workspace.pas('release', tag, ...more, '--yes')).toMatchObject({ code: 0 })
    }
    await release('r1', '--alias', 'live')
    await release('r9')
    await release('r5')
    await workspace.pas('aliases', 'set', slug, 'staging', 'r5')
    await release('r6', '--alias', 'live')
    const back = await workspace.pas('rollback', 'live', '--yes')
    expect(back).toMatchObject({ code: 0, stderr: expect.stringMatching(/^move alias\S+ r6 -> r1\n/) })
    expect(back.stdout).toMatch(/^done {2}move alias\S+ r6 -> r1\n$/)
    const none = { code: 1, stdout: '', stderr: expect.stringContaining('nothing to roll back to') }
    expect(await workspace.pas('rollback', 'live', '--yes')).toMatchObject(none)
    const { stderr } = await workspace.pas('rollback', 'live', '--yes', '--json')
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'refused' } })
    const there = await workspace.pas('rollback', 'live', 'r1', '--json')
    expect([there.code, JSON.parse(there.stdout)]).toEqual([0, { type: 'end', done: 0 }])
  })

  async function aliasOf(slug: string): Promise<string | undefined> {
    const { client } = system
    const [alias] = await client.processes.aliases.list(slug).toArray()
    return alias && (await client.processes.versions.get(slug, alias.versionId)).tag
  }
})

test('dev runs what is saved as a draft, tells faults, and leaves the server as it is', async () => {
  const slug = unique('dev')
  await using workspace = await pushed(system, slug, 'return "pushed"\n')
  await workspace.write(path(slug, 'params/default.json'), '{ "name": "Ada" }')
  await workspace.write(path(slug), 'console.log("log of", svc.context.parameters.name)\nreturn "one"\n')
  const child = workspace.start('dev', slug)
  const printed = { out: '', words: '' }
  child.stdout!.on('data', (chunk: Buffer) => (printed.out += chunk.toString()))
  child.stderr!.on('data', (chunk: Buffer) => (printed.words += chunk.toString()))
  await expect
    .poll(() => printed)
    .toMatchObject({ out: 'one\n', words: expect.stringMatching(/log of Ada\n[^]*waiting/) })
  await workspace.write(path(slug), 'await new Promise(() => setInterval(() => {}, 1000))\n')
  await expect.poll(() => runningOf(slug)).toBe(1)
  await workspace.write(path(slug), 'return "two"\n')
  await expect.poll(() => printed.out).toBe('one\ntwo\n')
  expect(await runningOf(slug)).toBe(0)
  await workspace.write(path(slug, 'params/default.json'), '{')
  await expect.poll(() => printed.words).toMatch(/params\/default\.json is no JSON/)
  await workspace.remove(path(slug))
  await expect.poll(() => printed.words).toContain('has none of main.js')
  child.kill('SIGINT')
  const [code] = (await once(child, 'exit')) as [number | null]
  expect(code).toBe(130)
  expect(await system.client.processes.get(slug)).toMatchObject({ sourceCode: 'return "pushed"\n', revision: 1 })

  async function runningOf(name: string): Promise<number> {
    const { id } = await system.client.processes.get(name)
    const running = await system.client.executions.list({ processId: id, status: 'RUNNING' }).toArray()
    return running.length
  }
})

test('dev ends where there is no such process', async () => {
  await using workspace = await Workspace.make(system)
  expect(await workspace.pas('dev', 'nope')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no folder processes/nope'),
  })
})

test('dev runs once what is saved at once', async () => {
  const slug = unique('dev')
  await using workspace = await pushed(system, slug, 'return 1\n')
  const child = workspace.start('dev', slug)
  let printed = ''
  child.stdout!.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await expect.poll(() => printed).toBe('1\n')
  await Promise.all([
    workspace.write(path(slug), 'return 2\n'),
    workspace.write(path(slug, 'process.yaml'), 'tags: [two]\n'),
  ])
  await expect.poll(() => printed).toBe('1\n2\n')
  child.kill('SIGINT')
  await once(child, 'exit')
  const { id } = await system.client.processes.get(slug)
  expect(await system.client.executions.list({ processId: id }).toArray()).toHaveLength(2)
})

test('init names the context as --context or --name does, and says what to do with a pas.yaml that is none', async () => {
  await using workspace = await Workspace.make(system)
  await workspace.write('pas.yaml', '{}\n')
  const target = ['--url', system.host, '--team', system.team]
  const known = { url: system.host, team: system.team }
  const contexts = join(workspace.env['XDG_CONFIG_HOME']!, 'pas/contexts.json')
  await mkdir(dirname(contexts), { recursive: true })
  await writeFile(contexts, JSON.stringify({ contexts: { stored: known } }))
  expect(await workspace.pas('init', ...target)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('remove it and make a new one by "pas init"'),
  })
  for (const [option, name] of [['--context', 'staging'], ['--name', 'test'], [], ['--context', 'stored']]) {
    await workspace.remove('pas.yaml')
    const args = name === 'stored' ? [] : target
    expect(await workspace.pas('init', ...args, ...(option ? [option, name!] : []))).toMatchObject({ code: 0 })
    expect(parse((await workspace.read('pas.yaml'))!)).toEqual({
      layout: 1,
      contexts: { [name ?? 'prod']: known },
    })
  }
})

test('types writes what editors check by, of each process', async () => {
  const slug = unique('types')
  await using workspace = await Workspace.make(system)
  await workspace.write(path(slug), 'return 1\n')
  await workspace.write(
    path(slug, 'parameters.schema.json'),
    '{"properties":{"n":{"type":"integer"}},"required":["n"]}',
  )
  expect(await workspace.pas('types')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('schemas/process.json'),
  })
  expect(await workspace.read('types/parameters.d.ts')).toContain('"n": number')
  expect(await workspace.read('types/svc.d.ts')).toContain('svc')
})

test('an assistant is configured with the address and the team, which hold outside of the repository, too', async () => {
  await using workspace = await Workspace.make(system)
  const { stdout } = await workspace.pas('mcp', 'install', 'cursor')
  const args = ['--url', system.host, '--team', system.team, 'mcp']
  expect(JSON.parse(stdout)).toMatchObject({ mcpServers: { 'process-automation': { args } } })
})
