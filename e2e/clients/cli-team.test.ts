import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { home, linesOf, pas, pasJson, start } from './cli.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { clientAt, system, unique } from './installed.ts'

const client = clientAt()
const signedOut = { PAS_URL: '', PAS_TEAM: '', PAS_TOKEN: '' }

describe('signing in', () => {
  test('keeps the token in a file of the owner alone, shows it nowhere, and logout forgets it', async () => {
    const env = { ...signedOut, XDG_CONFIG_HOME: join(home, unique('config')) }
    const login = ['login', system.host, '--team', system.team, '--token-stdin']
    const outputs = [await pas(login, { env, input: `${system.apiToken}\n` })]
    const file = join(env.XDG_CONFIG_HOME, 'pas/credentials.json')
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600')
    for (const args of [['whoami'], ['whoami', '--json'], ['context', 'list'], ['doctor'], ['doctor', '--json']])
      outputs.push(await pas(args, { env }))
    expect(outputs.map(({ code }) => code)).toEqual(outputs.map(() => 0))
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(system.apiToken)
    expect(JSON.parse(outputs[2]!.stdout)).toMatchObject({ team: system.team, url: system.host, context: system.team })
    expect((await pas(['logout'], { env })).code).toBe(0)
    expect(await readFile(file, 'utf8')).not.toContain(system.apiToken)
    expect((await pas(['whoami'], { env })).code).toBe(4)
  })

  test('a token that is refused is not stored', async () => {
    const env = { ...signedOut, XDG_CONFIG_HOME: join(home, unique('config')) }
    const refused = await pas(['login', system.host, '--team', system.team, '--token-stdin'], {
      env,
      input: 'sk-wrong',
    })
    expect(refused.code).toBe(4)
    await expect(stat(join(env.XDG_CONFIG_HOME, 'pas/credentials.json'))).rejects.toThrow('ENOENT')
  })

  test('says plainly where a team has no issuer to sign in at, and where there is no keyring', async () => {
    const device = await pas(['login', system.host, '--team', system.team, '--device'])
    expect([device.code, device.stderr]).toEqual([4, expect.stringContaining('names no issuer')])
    const env = { XDG_CONFIG_HOME: join(home, unique('config')), PATH: join(process.execPath, '..') }
    const keyring = await pas(['login', system.host, '--team', system.team, '--token-stdin', '--keyring'], {
      env,
      input: system.apiToken,
    })
    expect([keyring.code, keyring.stderr]).toEqual([1, expect.stringContaining('There is no keyring')])
  })
})

describe('variables', () => {
  test('sensitive values come by stdin, environment or file, never by argument, and are shown by nothing', async () => {
    const [key, other, plain] = [unique('KEY'), unique('KEY'), unique('KEY')].map((name) =>
      name.replaceAll('-', '_').toUpperCase(),
    ) as [string, string, string]
    const canary = unique('canary')
    const file = join(home, 'canary.env')
    await writeFile(file, `${plain}=${canary}\n`)
    const outputs = [
      await pas(['vars', 'set', key, '--sensitive'], { input: `${canary}\n` }),
      await pas(['vars', 'set', other, '--sensitive', '--from-env', 'CANARY'], { env: { CANARY: canary } }),
      await pas(['vars', 'import', file]),
      await pas(['vars', 'list']),
      await pas(['vars', 'list', '--json']),
      await pas(['audit', '--type', 'variable', '--json']),
    ]
    expect(outputs.map(({ code }) => code)).toEqual(outputs.map(() => 0))
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(canary)
    expect((await pas(['vars', 'set', key, '--sensitive'], { input: '' })).stderr).toContain('stdin is empty')
    expect((await pas(['vars', 'set', key, 'as-argument', '--sensitive'])).code).toBe(2)
    expect((await pas(['vars', 'set', key, 'as-argument'])).code).toBe(2)
    expect((await pas(['vars', 'unset', key])).stderr).toContain('--yes')
    expect((await pas(['vars', 'unset', key, other, plain, '--yes'])).code).toBe(0)
    expect((await pas(['vars', 'list'])).stdout).not.toContain(key)
  })

  test('what is no secret may be an argument, and its value is seen by runs', async () => {
    const key = unique('SHOP').replaceAll('-', '_').toUpperCase()
    await pas(['vars', 'set', key, 'https://shop.example'])
    await writeFile(join(home, 'env.js'), `return svc.env.${key}`)
    expect((await pas(['run', 'env.js'])).stdout).toBe('https://shop.example\n')
  })
})

describe('storage', () => {
  test('copies files, folders and pipes both ways, lists, prints, links and deletes', async () => {
    const folder = unique('files')
    await writeFile(join(home, 'a.bin'), Buffer.from([0, 255, 10, 13, 7]))
    expect((await pas(['storage', 'cp', 'a.bin', `team:${folder}/`])).code).toBe(0)
    expect((await pas(['storage', 'cp', '-', `team:${folder}/deep/b.txt`], { input: 'from a pipe' })).code).toBe(0)
    const listed = await pasJson<{ name?: string; prefix?: string }[]>(['storage', 'ls', `${folder}/`])
    expect(listed.map(({ name, prefix }) => name ?? prefix)).toEqual([`${folder}/a.bin`, `${folder}/deep/`])
    expect((await pas(['storage', 'cat', `${folder}/deep/b.txt`])).stdout).toBe('from a pipe')
    expect((await pas(['storage', 'cp', '-r', `team:${folder}`, 'copy'])).code).toBe(0)
    expect([...(await readFile(join(home, 'copy/a.bin')))]).toEqual([0, 255, 10, 13, 7])
    expect((await pas(['storage', 'cp', '-r', 'copy', `team:${folder}-2`])).code).toBe(0)
    const link = (await pas(['storage', 'sign', `${folder}-2/deep/b.txt`])).stdout.trim()
    expect(await (await fetch(link)).text()).toBe('from a pipe')
    expect((await pas(['storage', 'rm', `${folder}/a.bin`, '--yes'])).code).toBe(0)
    expect((await pas(['storage', 'cat', `${folder}/a.bin`])).code).toBe(1)
    expect((await pas(['storage', 'cp', 'a.bin', 'b.bin'])).code).toBe(2)
  })
})

describe('tokens', () => {
  test('a new token alone goes to stdout, does what its scopes allow, and is ended by revoke', async () => {
    const name = unique('ci')
    const made = await pas(['tokens', 'create', name, '--scopes', 'read', '--expires', '1h'])
    expect(made.stdout).toMatch(/^sk-\S+\n$/)
    const env = { PAS_TOKEN: made.stdout.trim() }
    expect((await pas(['executions', 'list'], { env })).code).toBe(0)
    const refused = await pas(['vars', 'set', 'X', 'y'], { env })
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('scope build')])
    expect((await pas(['tokens', 'list'])).stdout).not.toContain(made.stdout.trim())
    expect((await pas(['tokens', 'revoke', name, '--yes'])).code).toBe(0)
    expect((await pas(['executions', 'list'], { env })).code).toBe(4)
  })
})

describe('schedules and packages', () => {
  test('the next times of a cron expression are shown; a schedule is paused, resumed and run', async () => {
    const next = await pasJson<{ times: { at: string }[] }>([
      'schedules',
      'next',
      '--cron',
      '0 8 1 1 *',
      '-n',
      '2',
      '--zone',
      'UTC',
    ])
    expect(next.times.map(({ at }) => at.slice(4))).toEqual(['-01-01T08:00:00.000Z', '-01-01T08:00:00.000Z'])
    const process = unique('scheduled')
    await client.processes.create({ name: process, sourceCode: 'return "by schedule"' })
    const { id } = await client.schedules.create(process, { cron: '0 8 1 1 *' })
    await pas(['schedules', 'pause', id])
    const paused = await pasJson<{ id: string; paused: boolean }[]>(['schedules', 'list', '--process', process])
    expect(paused).toMatchObject([{ id, paused: true }])
    expect((await pas(['schedules', 'list', '--process', process])).stdout).toMatch(new RegExp(` ${process}$`, 'm'))
    expect((await pas(['schedules', 'resume', id])).code).toBe(0)
    expect((await pas(['schedules', 'run', id, '--watch'])).stdout).toBe('by schedule\n')
    expect((await pas(['schedules', 'next', '--cron', 'nonsense'])).code).toBe(1)
  })

  test('packages are staged, shown and dropped', async () => {
    const python = ['--language', 'python']
    const added = await pas(['deps', 'add', 'pandas>=2', 'requests', ...python])
    expect(added.stdout + added.stderr).toContain('"pas deps install -l python"')
    const listed = await pas(['deps', 'list', ...python])
    expect(listed.stdout).toMatch(/pandas\s+-\s+>=2/)
    expect(listed.stderr).toContain('"pas deps install -l python"')
    await pas(['deps', 'remove', 'requests', ...python])
    const staged = await pasJson<{ nextInstallation: { dependencies: object } }>(['deps', 'list', ...python])
    expect(staged.nextInstallation.dependencies).toEqual({ pandas: '>=2' })
    await pas(['deps', 'discard', ...python])
    expect(await pasJson(['deps', 'list', ...python])).not.toHaveProperty('nextInstallation')
  })
})

test('usage names processes by their slugs, and runs of drafts', async () => {
  const process = unique('used')
  await client.processes.create({ name: process, sourceCode: 'return 1' })
  await client.request('POST', `/processes/${process}/execute-sync`, { body: {} })
  const draft = { draft: { programmingLanguage: 'JAVASCRIPT', sourceCode: 'return 1' } }
  await client.request('POST', '/processes/draft/execute-sync', { body: draft })
  const { stdout } = await pas(['usage'])
  expect(stdout).toMatch(new RegExp(`^${process} +1 `, 'm'))
  expect(stdout).toMatch(/^\(drafts\) +\d/m)
})

describe('any call', () => {
  test('pas api sends a body and query parameters, and prints the answer as it is', async () => {
    const name = unique('by-api')
    const made = await pas(['api', 'POST', '/processes', '-d', '@-'], {
      input: JSON.stringify({ name, sourceCode: '' }),
    })
    expect(JSON.parse(made.stdout)).toMatchObject({ slug: name })
    const found = await pas(['api', 'GET', '/processes', '-q', `keywords=${name}`])
    expect(JSON.parse(found.stdout)).toMatchObject({ total: 1 })
    expect((await pas(['api', 'DELETE', `/processes/${name}`])).code).toBe(0)
    const gone = await pas(['api', 'GET', `/processes/${name}`, '--json'])
    expect([gone.code, JSON.parse(gone.stderr)]).toMatchObject([1, { error: { code: 'process_not_found' } }])
  })

  test.each([['team'], ['limits'], ['usage'], ['audit']])(
    'pas %s shows words, and JSON with --json',
    async (command) => {
      expect((await pas([command])).stdout).not.toBe('')
      expect(await pasJson(command.split(' '))).toBeTypeOf('object')
    },
  )
})

describe('completion', () => {
  test.each(['bash', 'zsh', 'fish'])('a script for %s is printed', async (shell) => {
    const { code, stdout } = await pas(['completion', shell])
    expect([code, stdout]).toEqual([0, expect.stringContaining('pas complete --')])
  })

  test('commands, what is below them and options are completed', async () => {
    const completed = async (...words: string[]) => {
      const { stdout } = await pas(['complete', '--', ...words])
      return stdout.split('\n').map((line) => line.split('\t')[0])
    }
    expect(await completed('exec')).toContain('executions')
    expect(await completed('executions', '')).toEqual(expect.arrayContaining(['list', 'wait', 'rerun']))
    expect(await completed('run', '--t')).toEqual(expect.arrayContaining(['--tag', '--timeout']))
  })
})

describe('sandboxes', () => {
  test('exec ends with the code of the command, 125 for what is ours, 124 after its time', async () => {
    const id = (await pas(['sandbox', 'create', '--port', '3000', '--timeout', '10m'])).stdout.trim()
    const failed = await pas(['sandbox', 'exec', id, '--', 'sh', '-c', 'echo out; echo err >&2; exit 3'])
    expect(failed).toEqual({ code: 3, stdout: 'out\n', stderr: 'err\n' })
    expect((await pas(['sandbox', 'exec', id, '--', 'no-such-program'])).code).toBe(125)
    expect((await pas(['sandbox', 'exec', id, '--env', 'NO_VALUE', '--', 'true'])).code).toBe(125)
    expect((await pas(['sandbox', 'exec', id, '--', 'true'], { env: { PAS_TOKEN: '' } })).code).toBe(125)
    expect((await pas(['sandbox', 'exec', id, '--timeout', '200ms', '--', 'sleep', '20'])).code).toBe(124)
    const piped = await pas(['sandbox', 'exec', id, '-i', '--json', '--', 'cat'], { input: 'typed' })
    expect(linesOf(piped.stdout)).toEqual([
      { type: 'log', stream: 'stdout', data: 'typed' },
      { type: 'end', code: 0 },
    ])
    await writeFile(join(home, 'page.html'), 'a page')
    expect((await pas(['sandbox', 'cp', 'page.html', `${id}:/tmp/`])).code).toBe(0)
    expect((await pas(['sandbox', 'cp', `${id}:/tmp/page.html`, '-'])).stdout).toBe('a page')
    await mkdir(join(home, 'downloads'))
    expect((await pas(['sandbox', 'cp', `${id}:/tmp/page.html`, 'downloads'])).code).toBe(0)
    expect(await readFile(join(home, 'downloads/page.html'), 'utf8')).toBe('a page')
    await using proxy = await CuttingProxy.before(system.host)
    proxy.next(/^GET .*\/files/, { cutAnswerAfter: 3 })
    const cut = ['sandbox', 'cp', `${id}:/tmp/page.html`, 'downloads']
    expect((await pas(cut, { env: { PAS_URL: proxy.url } })).code).not.toBe(0)
    expect(await readdir(join(home, 'downloads'))).toEqual(['page.html'])
    expect(await readFile(join(home, 'downloads/page.html'), 'utf8')).toBe('a page')
    const server = start(['sandbox', 'exec', id, '--cwd', '/tmp', '--', 'python3', '-u', '-m', 'http.server', '3000'])
    await server.has('Serving')
    const forward = start(['sandbox', 'forward', id, '3000', '--local', '0'])
    await forward.has('http://127.0.0.1')
    await forward.has('Ctrl-C')
    forward.child.kill('SIGINT')
    server.child.kill('SIGINT')
    const { stdout } = await forward.ended
    expect([stdout, (await server.ended).code]).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\n$/), 130])
    expect((await pas(['sandbox', 'shell', id])).code).toBe(2)
    expect((await pas(['sandbox', 'extend', id, '20m'])).code).toBe(0)
    expect((await pas(['sandbox', 'ls', '--json'])).stdout).not.toContain('grpcApiKey')
    expect((await pas(['sandbox', 'kill', id])).code).toBe(0)
  })
})
