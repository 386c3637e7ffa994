import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { GitHubStandIn } from './github-stand-in.ts'
import { ownTeam, type OwnTeam } from './own-team.ts'
import { program, pushed, sourceOf as path, unique, Workspace } from './workspace.ts'

const root = resolve(import.meta.dirname, '../../../..')
const run = promisify(execFile)

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

/** The blocks of the guide that are `sh`, each with the block behind that shows what it prints; … stands for anything. */
async function stepsOfGuide(): Promise<{ commands: string; shown?: string }[]> {
  const text = await readFile(join(root, 'docs/guides/team-in-git.md'), 'utf8')
  const blocks = [...text.matchAll(/^```(.*)\n([^]*?)^```$/gm)].map(([, kind = '', body = '']) => ({ kind, body }))
  return blocks.flatMap(({ kind, body }, index) => {
    const next = blocks[index + 1]
    const commands = body
      .replaceAll('http://localhost:8080', system.host)
      .replaceAll('--team demo', `--team ${system.team}`)
    if (kind !== 'sh') return []
    return [{ commands, ...(next && /^(json|text)$/.test(next.kind) && { shown: next.body.trim() }) }]
  })
}

test('the commands of the guide do what it says, one behind the other', { timeout: 180_000 }, async () => {
  const steps = await stepsOfGuide()
  const mark = '--- next step ---'
  const script = steps.map(({ commands }) => commands).join(`\necho; echo '${mark}'\n`)
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: home, env: environment() })
  const printed = stdout.split(mark)
  for (const [index, { shown }] of steps.entries()) {
    if (shown === undefined) continue
    const parts = shown.split('…').map((part) => part.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    expect(printed[index]).toMatch(new RegExp(parts.join('[^]*')))
  }
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

describe('the GitHub Action', () => {
  interface Action {
    inputs: Record<string, { default?: string }>
    runs: { steps: { id?: string; run: string; env: Record<string, string> }[] }
  }

  /** Runs the step of the action as GitHub does: inputs in their places, its files and variables around it. */
  async function act(
    workspace: Workspace,
    ref: string,
    inputs: Record<string, string>,
    event = 'push',
    github: Record<string, string> = {},
  ) {
    const action = parse(await readFile(join(root, 'action/action.yml'), 'utf8')) as Action
    const step = action.runs.steps.find(({ id }) => id === 'run')
    const valueOf = (name: string) => inputs[name] ?? action.inputs[name]?.default ?? ''
    const env = Object.fromEntries(
      Object.entries(step!.env).map(([name, value]) => [
        name,
        value.replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, input: string) => valueOf(input)),
      ]),
    )
    const [summary, output] = [join(workspace.folder, '.summary'), join(workspace.folder, '.output')]
    await Promise.all([summary, output].map((path) => writeFile(path, '')))
    const head = await workspace.git('rev-parse', 'HEAD').catch(() => '')
    const ended = await run('bash', ['-c', step!.run], {
      cwd: workspace.folder,
      env: {
        ...workspace.env,
        ...{ NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], GITHUB_ACTION_PATH: join(root, 'action') },
        ...{ GITHUB_STEP_SUMMARY: summary, GITHUB_OUTPUT: output, GITHUB_REF: ref, GITHUB_EVENT_NAME: event },
        ...{ GITHUB_SHA: head.trim(), ...env, ...github },
      },
    }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
    )
    const [told, outputs] = await Promise.all([readFile(summary, 'utf8'), readFile(output, 'utf8')])
    await Promise.all([summary, output].map((path) => rm(path)))
    return { ...ended, summary: told, outputs }
  }

  test('shows the plan on every branch, pushes on main, and stops at a clash', async () => {
    await using workspace = await Workspace.make(system)
    await workspace.write('processes/acted/main.js', 'return 1\n')
    await workspace.commit()
    const inputs = { token: system.apiToken, program: `${process.execPath} ${program}` }
    const onBranch = await act(workspace, 'refs/heads/idea', inputs)
    expect(onBranch).toMatchObject({ code: 0, outputs: 'changes=1\n' })
    expect(onBranch.summary).toContain('| create | `process/acted` |')
    await expect(system.client.processes.get('acted')).rejects.toMatchObject({ status: 404 })
    expect(await act(workspace, 'refs/heads/main', inputs)).toMatchObject({
      code: 0,
      outputs: 'changes=1\npushed=true\n',
    })
    const head = (await workspace.git('rev-parse', 'HEAD')).trim()
    expect(await system.client.processes.get('acted')).toMatchObject({ origin: { commit: head } })
    await workspace.write('processes/acted/main.js', 'return 2\n')
    await workspace.commit()
    await system.client.processes.update('acted', { sourceCode: 'return 3\n' })
    const clash = await act(workspace, 'refs/heads/main', inputs)
    expect(clash).toMatchObject({ code: 3, outputs: 'changes=0\n' })
    expect(clash.summary).toMatch(/\*\*clash\*\* \| `process\/acted` \| sourceCode \| by \S+ at /)
    expect(await system.client.processes.get('acted')).toMatchObject({ sourceCode: 'return 3\n' })
  })

  test('pushes at events of its branch alone, only the commit that they are about, and only where there is something to do', async () => {
    await using workspace = await Workspace.make(system)
    await workspace.write('processes/events/main.js', 'return 1\n')
    await workspace.commit()
    const inputs = { token: system.apiToken, program: `${process.execPath} ${program}` }
    const main = (event: string, github?: Record<string, string>) =>
      act(workspace, 'refs/heads/main', inputs, event, github)
    for (const event of ['pull_request', 'pull_request_target', 'workflow_run']) {
      const gitHub = { COMMENT: 'false' }
      const told = {
        code: 0,
        outputs: 'changes=1\n',
        stdout: expect.stringContaining(`::notice::Nothing was pushed: the event is ${event}`),
      }
      expect(await main(event, gitHub)).toMatchObject(told)
    }
    expect(await main('push', { GITHUB_SHA: '0'.repeat(40) })).toMatchObject({
      ...{ code: 0, outputs: 'changes=1\n' },
      stdout: expect.stringContaining('::notice::Nothing was pushed: the checkout is not 0000'),
    })
    expect(await main('pull_request_target', { GITHUB_SHA: '0'.repeat(40) })).toMatchObject({
      ...{ code: 1, outputs: '', summary: '' },
      stdout: expect.stringContaining('::error::No plan: at pull_request_target the token goes nowhere but where 0000'),
    })
    await expect(system.client.processes.get('events')).rejects.toMatchObject({ status: 404 })
    expect(await main('workflow_dispatch')).toMatchObject({ code: 0, outputs: 'changes=1\npushed=true\n' })
    expect(await main('schedule')).toMatchObject({ code: 0, outputs: 'changes=0\n' })
  })

  test('keeps one comment of a pull request with the plan as it is now, and goes on where GitHub refuses it', async () => {
    await using workspace = await Workspace.make(system)
    await workspace.write('processes/commented/main.js', 'return 1\n')
    await workspace.commit()
    await using gitHub = await GitHubStandIn.open()
    const forged = ['', ' in .'].flatMap((where) =>
      Array.from({ length: 60 }, () => gitHub.add(`<!-- plan of pas${where} -->\nlooks good`, 'User')),
    )
    const inputs = { token: system.apiToken, program: `${process.execPath} ${program}`, 'github-token': 'ghs-token' }
    const pull = (folder = '.') =>
      act(workspace, 'refs/pull/7/merge', { ...inputs, folder }, 'pull_request', {
        ...{ GITHUB_API_URL: gitHub.url, GITHUB_REPOSITORY: 'shop/team' },
      })
    const first = await pull()
    expect(first).toMatchObject({ code: 0, outputs: 'changes=1\n', stdout: '' })
    expect(gitHub.comments.slice(120)).toMatchObject([{ body: expect.stringContaining(first.summary) }])
    await workspace.write('processes/also/main.js', 'return 2\n')
    await workspace.commit()
    await pull()
    await pull()
    expect(gitHub.comments.slice(120)).toMatchObject([{ body: expect.stringContaining('| create | `process/also` |') }])
    expect(forged.every(({ body }) => body.endsWith('looks good'))).toBe(true)
    const list = 'GET /repos/shop/team/issues/7/comments'
    expect(gitHub.calls).toEqual([
      ...[list, list, 'POST /repos/shop/team/issues/7/comments'],
      ...[list, list, 'PATCH /repos/shop/team/issues/comments/120'],
      ...[list, list],
    ])
    expect(gitHub.tokens).toEqual(new Set(['Bearer ghs-token']))
    await pull('another')
    expect(gitHub.comments).toHaveLength(122)
    // One that an earlier release has made is taken by one folder.
    const former = gitHub.add('<!-- plan of pas -->\nan old plan', 'Bot')
    for (const folder of ['third', 'fourth', 'third']) await pull(folder)
    expect(gitHub.comments).toHaveLength(124)
    expect(former.body).toMatch(/^<!-- plan of pas in third -->\n(?!an old plan)/)
    gitHub.refuses = true
    const refused = await pull()
    expect([refused.code, refused.stdout]).toEqual([
      0,
      expect.stringMatching(/^::warning::.*403.*pull-requests: write/),
    ])
    expect(refused.summary).toContain('process/also')
    await expect(system.client.processes.get('commented')).rejects.toMatchObject({ status: 404 })
  })

  test('says what is missing without a token, and lets pull requests of forks pass', async () => {
    await using workspace = await Workspace.make(system)
    const fork = await act(workspace, 'refs/pull/1/merge', { token: '' }, 'pull_request')
    expect(fork).toMatchObject({ code: 0, stdout: expect.stringContaining('::notice::') })
    const main = await act(workspace, 'refs/heads/main', { token: '' })
    expect(main).toMatchObject({ code: 4, stdout: expect.stringContaining('::error::') })
  })
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
