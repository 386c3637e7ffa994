import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { GitHubStandIn } from './github-stand-in.ts'
import { ownTeam, type OwnTeam } from './own-team.ts'
import { program, Workspace } from './workspace.ts'

const root = resolve(import.meta.dirname, '../../../..')
const run = promisify(execFile)

let system: OwnTeam
beforeAll(async () => {
  system = await ownTeam('github-action')
  return system.leave
}, 150_000)

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
