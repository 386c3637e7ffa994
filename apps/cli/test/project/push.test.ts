import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { ownTeam, type OwnTeam } from './own-team.ts'
import { pushed, sourceOf as path, unique, Workspace } from './workspace.ts'

let system: OwnTeam
beforeAll(async () => {
  system = await ownTeam('push')
  return system.leave
}, 150_000)

const onServer = (slug: string) => system.client.processes.get(slug)

describe('push', () => {
  test('after a pull of everything that a process can have changes nothing', async () => {
    const slug = unique('whole')
    const { client } = system
    const { id } = await client.processes.create({
      slug,
      name: 'Everything: "quoted" # and more',
      description: 'two\nlines',
      readme: '# Read\r\nme\n',
      sourceCode: 'return svc.context.parameters // no end of line',
      parametersSchema: { type: 'object', properties: { n: { type: 'number', default: 1.5 } } },
      tags: ['b', 'a'],
      webhook: {
        enabled: true,
        username: 'hooks',
        password: 'canary-of-webhook',
        allowedAddresses: ['203.0.113.0/24'],
      },
      settings: {
        formsConfig: { enabled: true, frameAncestors: ['https://a.example'] },
        publicConfig: { enabled: true },
      },
    })
    await client.processes.create({ name: unique('python'), programmingLanguage: 'PYTHON', sourceCode: 'print(1)\n' })
    const daily = { cron: '0 8 * * *', input: { parameters: { n: 2 }, comment: 'daily' } }
    await client.request('POST', `/processes/${id}/schedule`, { body: daily })
    await client.request('POST', `/processes/${id}/schedule`, { body: { cron: '5 8 * * *' } })
    await client.request('POST', `/processes/${id}/schedule`, { body: { dateTime: '2999-01-01T00:00:00+02:00' } })
    await client.request('POST', '/modules', { body: { name: slug, sourceCode: 'export const a = 1' } })
    await client.request('POST', '/variables', { body: { key: 'PLAIN', value: 'yes: no', isSensitive: false } })
    await client.request('POST', '/variables', {
      body: { key: 'SECRET', value: 'canary-of-variable', isSensitive: true },
    })
    const { settings } = await client.processes.get(slug)
    await using workspace = await Workspace.make(system)
    expect(await workspace.pas('pull')).toMatchObject({ code: 0 })
    expect(await workspace.pas('plan', '--check')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Nothing to do/),
    })
    await workspace.commit('what the server has')
    // A clone has nothing but the files.
    await using clone = await Workspace.make(system, workspace)
    const before = await client.processes.get(slug)
    expect(await clone.pas('push', '--yes')).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Nothing to do/) })
    expect((await client.processes.get(slug)).revision).toBe(before.revision)
    expect(await clone.pas('status')).toMatchObject({ stdout: '' })
    // Secrets are in no file.
    const all = await clone.git('grep', '-I', '-n', '-e', 'canary', '-e', settings.publicConfig.token!).catch(() => '')
    expect(all).toBe('')
    expect(await workspace.read('variables.yaml')).toContain('SECRET:\n  env: SECRET')
  })

  test('tells that files and server differ by exit code 8, and by 0 once it is done', async () => {
    const slug = unique('check')
    await using workspace = await pushed(system, slug)
    await workspace.write(path(slug), 'return 2\n')
    expect(await workspace.pas('plan', '--check')).toMatchObject({
      code: 8,
      stdout: expect.stringContaining(`~ update process/${slug}: sourceCode`),
    })
    await workspace.commit()
    expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 0 })
    expect(await workspace.pas('plan', '--check')).toMatchObject({ code: 0 })
    const head = (await workspace.git('rev-parse', 'HEAD')).trim()
    expect(await onServer(slug)).toMatchObject({ sourceCode: 'return 2\n', origin: { commit: head } })
  })

  test('does exactly a plan: not with other files, and not over what was changed since', async () => {
    const slug = unique('plan')
    await using workspace = await pushed(system, slug)
    await workspace.write(path(slug), 'return 2\n')
    expect(await workspace.pas('plan', '--out', 'plan.json')).toMatchObject({ code: 0 })
    await workspace.write(path(slug), 'return 3\n')
    expect(await workspace.pas('push', 'plan.json', '--yes')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Plan again'),
    })
    await workspace.write(path(slug), 'return 2\n')
    await system.client.processes.update(slug, { description: 'meanwhile' })
    expect(await workspace.pas('push', 'plan.json', '--yes')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/was changed meanwhile by \S+ at [^]*Plan again/),
    })
    expect(await onServer(slug)).toMatchObject({ sourceCode: 'return 1\n', description: 'meanwhile' })
  })

  test('from a fresh clone leaves an edit on the server alone where nothing was changed here', async () => {
    const slug = unique('kept')
    await using workspace = await pushed(system, slug)
    await system.client.processes.update(slug, { description: 'by hand' })
    await using clone = await Workspace.make(system, workspace)
    expect(await clone.pas('push', '--yes')).toMatchObject({ code: 0, stderr: expect.stringContaining(slug) })
    expect(await onServer(slug)).toMatchObject({ description: 'by hand' })
    expect(await clone.pas('pull')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^took /m) })
    await clone.commit('by hand')
    await system.client.processes.update(slug, { description: 'again', webhook: { allowedAddresses: ['203.0.113.7'] } })
    await using another = await Workspace.make(system, clone)
    expect(await another.pas('push', '--yes')).toMatchObject({ code: 0 })
    expect(await onServer(slug)).toMatchObject({ description: 'again', webhook: { allowedAddresses: ['203.0.113.7'] } })
  })

  test('from a fresh clone that went back to what the server had before an edit is a clash', async () => {
    const slug = unique('back')
    await using workspace = await pushed(system, slug)
    await workspace.write(path(slug), 'return 2\n')
    await workspace.commit()
    expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 0 })
    await workspace.write(path(slug), 'return 1\n')
    await workspace.commit('back')
    await system.client.processes.update(slug, { description: 'by hand' })
    await using clone = await Workspace.make(system, workspace)
    expect(await clone.pas('push', '--yes')).toMatchObject({ code: 3 })
    expect(await clone.pas('pull')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^merged /m) })
    await clone.commit('merged')
    expect(await clone.pas('push', '--yes')).toMatchObject({ code: 0 })
    expect(await onServer(slug)).toMatchObject({ sourceCode: 'return 1\n', description: 'by hand' })
  })

  test('leaves an edit of a module alone that a fresh clone has in its state before', async () => {
    const name = unique('shared')
    await using workspace = await Workspace.make(system)
    await workspace.write(`modules/${name}.js`, 'export const a = 1\n')
    await workspace.commit()
    expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 0 })
    const made = (await system.client.modules.list().toArray()).find((each) => each.name === name)!
    await system.client.modules.update(made.id, { sourceCode: 'export const a = 2\n' })
    await using clone = await Workspace.make(system, workspace)
    expect(await clone.pas('push', '--yes')).toMatchObject({ code: 0 })
    expect(await system.client.modules.get(made.id)).toMatchObject({ sourceCode: 'export const a = 2\n' })
  })

  test('from a fresh clone leaves an edit of a variable alone where it has what another has seen', async () => {
    const slug = unique('cached').replace('-', '_')
    const value = async () => (await system.client.variables.list().toArray()).find(({ key }) => key === slug)!
    await using workspace = await Workspace.make(system)
    await workspace.write('variables.yaml', `${slug}: one\n`)
    await workspace.commit()
    expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 0 })
    await system.client.variables.update((await value()).id, { value: 'by hand' })
    await using clone = await Workspace.make(system, workspace)
    expect(await clone.pas('push', '--yes')).toMatchObject({ code: 3 })
    await cp(join(workspace.folder, '.pas/base'), join(clone.folder, '.pas/base'), { recursive: true })
    expect(await clone.pas('push', '--yes')).toMatchObject({ code: 0 })
    expect((await value()).value).toBe('by hand')
  })

  test('refuses a plan that is not there, and says how to write one', async () => {
    await using workspace = await Workspace.make(system)
    expect(await workspace.pas('push', 'plan.json', '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('pas plan --out plan.json'),
    })
  })

  test('does a plan again that was cut: what it has made already is done', async () => {
    const slug = unique('again')
    await using workspace = await Workspace.make(system)
    await workspace.write(path(slug), 'return 1\n')
    await workspace.write(`modules/${slug}.js`, 'export const a = 1\n')
    await workspace.write(
      `processes/${slug}/process.yaml`,
      'schedules:\n  nightly: { cron: "0 3 * * *" }\n  weekly: { cron: "0 4 * * MON", paused: true }\n',
    )
    await workspace.write('variables.yaml', `${slug.replace('-', '_')}: one\n`)
    await workspace.commit()
    expect(await workspace.pas('plan', '--out', 'plan.json')).toMatchObject({ code: 0 })
    expect(await workspace.pas('push', 'plan.json', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('5 done\n'),
    })
    expect(await workspace.pas('push', 'plan.json', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('5 done, of which the server had 5 already'),
    })
    const processId = (await system.client.processes.get(slug)).id
    const schedules = await system.client.schedules.list({ processId }).toArray()
    expect(new Set(schedules.map(({ comment }) => comment))).toEqual(new Set(['nightly', 'weekly']))
    expect(schedules).toHaveLength(2)
    await system.client.processes.update(slug, { sourceCode: 'return "by hand"\n' })
    expect(await workspace.pas('push', 'plan.json', '--yes')).toMatchObject({ code: 3 })
  })

  test('stops at a failure and goes on when it is repeated', async () => {
    const [good, bad] = [unique('good'), unique('bad')]
    await using workspace = await pushed(system, good)
    await workspace.write(path(bad), 'return 1\n')
    await workspace.write(path(bad, 'process.yaml'), 'schedules: { never: { cron: "no cron" } }\n')
    await workspace.write(path(good), 'return 2\n')
    const refused = /\+ create schedule\/\S+\n {2}warning: The server refuses its cron: .*five fields/
    expect(await workspace.pas('plan')).toMatchObject({ code: 0, stdout: expect.stringMatching(refused) })
    const { code, stderr } = await workspace.pas('push', '--yes')
    expect(code).toBe(1)
    expect(stderr).toMatch(refused)
    expect(stderr).toMatch(/failed .*schedule[^]* 1 failed\. Mend the file, then push again\./)
    expect(await onServer(good)).toMatchObject({ sourceCode: 'return 2\n' })
    await workspace.write(path(good), 'return ((\n')
    const warning = /~ update process\/\S+: sourceCode\n  warning: Syntax error in line 2, column 1: /
    expect(await workspace.pas('plan')).toMatchObject({ code: 0, stdout: expect.stringMatching(warning) })
    expect(await workspace.pas('push', path(good, ''), '--yes')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(new RegExp(`warning .*${good}: .*Unexpected`)),
    })
    await workspace.write(path(bad, 'process.yaml'), 'schedules: { daily: { cron: "0 8 * * *" } }\n')
    expect(await workspace.pas('push', '--yes')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('1 to create'),
    })
  })

  test('says how to have a schema enforced, where it writes one and the team enforces none', async () => {
    const slug = unique('schema')
    const advice = 'paramsSchemaValidationEnabled'
    await using workspace = await pushed(system, slug)
    await workspace.write(path(slug, 'parameters.schema.json'), '{ "type": "object" }\n')
    expect((await workspace.pas('plan')).stderr).toContain(advice)
    expect((await workspace.pas('push', '--yes')).stderr).toContain(advice)
    await workspace.write(path(slug), 'return 2\n')
    expect((await workspace.pas('plan')).stderr).not.toContain(advice)
    await workspace.write(path(slug, 'parameters.schema.json'), '{ "type": "object", "title": "a" }\n')
    await system.client.team.update({ paramsSchemaValidationEnabled: true })
    const { stderr } = await workspace.pas('push', '--yes')
    await system.client.team.update({ paramsSchemaValidationEnabled: false })
    expect(stderr).not.toContain(advice)
  })

  test('deletes only with --prune, and only what this repository has made and nobody has changed since', async () => {
    const [mine, changed, foreign] = [unique('mine'), unique('changed'), unique('foreign')]
    await using workspace = await pushed(system, mine)
    await workspace.write(path(changed), 'return 1\n')
    await workspace.commit()
    await workspace.pas('push', '--yes')
    await system.client.processes.create({ name: foreign, sourceCode: 'return 1\n' })
    await workspace.pas('pull', path(foreign, ''))
    await workspace.commit()
    for (const slug of [mine, changed, foreign]) await workspace.remove(`processes/${slug}`)
    await workspace.commit('none')
    expect(await workspace.pas('push', '--yes')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('--prune removes it'),
    })
    await onServer(mine)
    await system.client.processes.update(changed, { description: 'by hand' })
    expect(await workspace.pas('push', '--prune', '--yes')).toMatchObject({ code: 3 })
    await onServer(mine)
    await workspace.pas('pull', `processes/${changed}`)
    await workspace.commit('back')
    await workspace.git('remote', 'add', 'origin', 'https://git.example/shop/app.git')
    expect(await workspace.pas('push', '--prune', '--yes')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('last edited outside of git'),
    })
    await expect(onServer(mine)).rejects.toMatchObject({ status: 404 })
    expect(await onServer(changed)).toMatchObject({ description: 'by hand' })
    await onServer(foreign)
  })

  test('takes secrets from the environment, and shows them nowhere', async () => {
    const slug = unique('secret')
    await using workspace = await Workspace.make(system)
    await workspace.write(path(slug), 'return 1\n')
    await workspace.write(
      path(slug, 'process.yaml'),
      'webhook: { enabled: true, username: u, password: { env: HOOK } }\n',
    )
    await workspace.write('variables.yaml', `${slug.replace('-', '_')}: { env: HOOK }\n`)
    expect(await workspace.pas('push', '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not set: HOOK'),
    })
    expect(await workspace.pas('plan')).toMatchObject({ code: 0, stderr: expect.stringContaining('come from: HOOK.') })
    expect(await workspace.pas('plan', 'processes/none')).toMatchObject({ code: 2 })
    const done = await workspace.pasWith({ HOOK: 'canary-31415' }, 'push', '--yes')
    expect(done).toMatchObject({ code: 0 })
    const url = `${system.host}/api/${system.team}/webhooks/${slug}`
    const call = (password: string) => fetch(url, { headers: { Authorization: `Basic ${btoa(`u:${password}`)}` } })
    expect((await call('canary-31415')).status).toBe(200)
    expect((await call('another')).status).toBe(401)
    const again = await workspace.pasWith({ HOOK: 'canary-27182' }, 'push', '--secrets', '--yes', '--json')
    expect((await call('canary-27182')).status).toBe(200)
    const files = await workspace.git('grep', '--no-index', '-l', 'canary').catch(() => '')
    expect([done.stdout, done.stderr, again.stdout, again.stderr, files].join('')).not.toContain('canary')
  })

  test('strips TypeScript in place, so that an error names the line of the file', async () => {
    const slug = unique('typed')
    const source =
      'interface Given {\n  n: number\n}\nexport function main(): number {\n  throw new Error("line 5" as string)\n}\n'
    await using workspace = await Workspace.make(system)
    await workspace.write(path(slug, 'main.ts'), source)
    await workspace.commit()
    expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 0 })
    const failure = await system.client.processes.call(slug).catch((error: unknown) => error)
    expect(failure).toMatchObject({ explanation: 'Error: line 5' })
    const { executionId } = failure as { executionId: string }
    expect((await system.client.executions.get(executionId)).error?.frames?.[0]).toMatchObject({ line: 5 })
    await system.client.processes.update(slug, { description: 'by hand' })
    expect(await workspace.pas('pull', `processes/${slug}`)).toMatchObject({ code: 0 })
    expect(await workspace.read(path(slug, 'main.ts'))).toBe(source)
  })

  test('uses what a context says of its own', async () => {
    const slug = unique('context')
    await using workspace = await Workspace.make(system)
    await workspace.write(path(slug), 'return 1\n')
    await workspace.write(
      path(slug, 'process.yaml'),
      'tags: [all]\nschedules: { daily: { cron: "0 8 * * *" } }\ncontexts:\n  prod:\n    schedules: { daily: { paused: true } }\n  other: { tags: [none] }\n',
    )
    await workspace.commit()
    await workspace.pas('push', '--yes')
    const { id, tags } = await onServer(slug)
    const [schedule] = await system.client.schedules.list({ processId: id }).toArray()
    expect([tags, schedule?.paused]).toEqual([['all'], true])
    await system.client.request('PUT', `/schedules/${schedule!.id}/resume`)
    await workspace.pas('pull', `processes/${slug}`)
    expect(await workspace.read(path(slug, 'process.yaml'))).toContain('schedules: { daily: { paused: false } }')
  })
})

test('a process whose language was changed here is a clash, and stays as it is', async () => {
  const slug = unique('language')
  await using workspace = await pushed(system, slug)
  await workspace.remove(path(slug))
  await workspace.write(path(slug, 'main.py'), 'return 1\n')
  await workspace.commit()
  expect(await workspace.pas('push', '--overwrite', slug, '--yes')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('never changes'),
  })
  expect(await onServer(slug)).toMatchObject({ programmingLanguage: 'JAVASCRIPT', revision: 1 })
})
