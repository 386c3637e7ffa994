import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { ownTeam, type OwnTeam } from './own-team.ts'
import { pushed, sourceOf as path, unique, Workspace } from './workspace.ts'

let system: OwnTeam
beforeAll(async () => {
  system = await ownTeam('pull')
  return system.leave
}, 150_000)

const onServer = (slug: string) => system.client.processes.get(slug)

describe('pull', () => {
  test('takes what was changed on the server alone, keeps comments, and says by whom', async () => {
    const slug = unique('theirs')
    await using workspace = await pushed(system, slug)
    await system.client.processes.update(slug, { description: 'by hand' })
    expect(await workspace.pas('plan', '--check')).toMatchObject({
      code: 8,
      stdout: expect.stringMatching(/edited on the server .*: description \(by \S+ at .*changed on the server alone/),
    })
    expect(await workspace.pas('pull')).toMatchObject({ code: 0 })
    expect(await workspace.read(path(slug, 'process.yaml'))).toBe('description: by hand\ntags: [one] # first\n')
  })

  test('leaves out what POST /run has made of code, and no plan is about it', async () => {
    const slug = unique('own')
    await using workspace = await pushed(system, slug)
    const code = `run-${'0123456789abcdef'.repeat(4)}`
    await system.client.processes.create({ name: code, slug: code, sourceCode: 'return 1', tags: ['run'] })
    const pulled = await workspace.pas('pull')
    expect(pulled).toMatchObject({ code: 0, stdout: expect.not.stringContaining(code) })
    expect(await workspace.pas('plan', '--check')).toMatchObject({ code: 0, stdout: expect.not.stringContaining(code) })
    await system.client.processes.delete(code)
  })

  test('takes packages of a process whose file says nothing of dependencies', async () => {
    const slug = unique('packages')
    await using workspace = await pushed(system, slug)
    await system.client.processes.update(slug, { manifest: { dependencies: { ms: '2.1.3' } } })
    expect(await workspace.pas('pull')).toMatchObject({ code: 0 })
    expect(await workspace.read(path(slug, 'process.yaml'))).toBe('tags: [one] # first\npackages:\n  ms: 2.1.3\n')
    await workspace.commit()
    expect(await workspace.pas('plan', '--check')).toMatchObject({ code: 0 })
  })

  test('merges changes of both sides, and a fresh clone may push the merge', async () => {
    const slug = unique('both')
    await using workspace = await pushed(system, slug, 'const a = 1\n\n\nreturn a\n')
    await workspace.write(path(slug), 'const a = 2\n\n\nreturn a\n')
    await workspace.commit()
    await system.client.processes.update(slug, { sourceCode: 'const a = 1\n\n\nreturn a + 1\n', tags: ['one', 'two'] })
    expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 3 })
    expect(await workspace.pas('pull', `processes/${slug}`)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^merged/),
    })
    expect(await workspace.read(path(slug))).toBe('const a = 2\n\n\nreturn a + 1\n')
    await workspace.commit('merged')
    await using ci = await Workspace.make(system, workspace)
    expect(await ci.pas('push', '--yes')).toMatchObject({ code: 0 })
    expect(await onServer(slug)).toMatchObject({ sourceCode: 'const a = 2\n\n\nreturn a + 1\n', tags: ['one', 'two'] })
  })

  test('leaves what clashes and writes what the server has beside it; nothing is pushed until it is merged or a side is chosen', async () => {
    const slug = unique('clash')
    await using workspace = await pushed(system, slug)
    await workspace.write(path(slug), 'return "ours"\n')
    await workspace.commit()
    await system.client.processes.update(slug, { sourceCode: 'return "theirs"\n' })
    expect(await workspace.pas('pull')).toMatchObject({ code: 3, stdout: expect.stringContaining('main.js.remote') })
    expect(await workspace.read(path(slug))).toBe('return "ours"\n')
    expect(await workspace.read(path(slug, 'main.js.remote'))).toBe('return "theirs"\n')
    expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 3 })
    expect(await workspace.pas('pull')).toMatchObject({ code: 3, stdout: expect.stringContaining('main.js.remote') })
    await workspace.remove(path(slug, 'main.js.remote'))
    await workspace.commit('not merged')
    await using ci = await Workspace.make(system, workspace)
    for (const clone of [workspace, ci]) expect(await clone.pas('push', '--yes')).toMatchObject({ code: 3 })
    expect(await onServer(slug)).toMatchObject({ sourceCode: 'return "theirs"\n' })
    await workspace.write(path(slug), 'return "both"\n')
    await workspace.commit('merged by hand')
    await ci.git('pull', '-q')
    expect(await ci.pas('push', '--yes')).toMatchObject({ code: 0 })
    expect(await onServer(slug)).toMatchObject({ sourceCode: 'return "both"\n' })
  })

  test('neither reads nor writes through a symbolic link', async () => {
    const slug = unique('linked')
    await using workspace = await pushed(system, slug)
    await using other = await Workspace.make(system)
    await other.write('keys.py', 'secret = 1\n')
    await symlink(other.folder, join(workspace.folder, 'modules'))
    const words = /modules is a symbolic link/
    for (const command of [['push', '--yes'], ['pull']])
      expect(await workspace.pas(...command)).toMatchObject({ code: 2, stderr: expect.stringMatching(words) })
    await rm(join(workspace.folder, 'modules'))
    await symlink(other.folder, join(workspace.folder, 'processes/elsewhere'))
    expect(await workspace.pas('pull')).toMatchObject({ code: 2, stderr: expect.stringContaining('elsewhere is a') })
  })

  test.for([
    ['--theirs', 'return "theirs"\n'],
    ['--ours', 'return "ours"\n'],
  ] as const)('%s chooses a side, also after a clash was left', async ([side, source]) => {
    const slug = unique('side')
    await using workspace = await pushed(system, slug)
    await workspace.write(path(slug), 'return "ours"\n')
    await workspace.commit()
    await system.client.processes.update(slug, { sourceCode: 'return "theirs"\n' })
    expect(await workspace.pas('pull')).toMatchObject({ code: 3 })
    expect(await workspace.pas('pull', side)).toMatchObject({ code: 0 })
    expect(await workspace.read(path(slug))).toBe(source)
    expect(await workspace.read(path(slug, 'main.js.remote'))).toBeUndefined()
    await workspace.commit()
    expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 0 })
    expect(await onServer(slug)).toMatchObject({ sourceCode: source })
  })

  test('never overwrites what git does not have', async () => {
    const slug = unique('uncommitted')
    await using workspace = await pushed(system, slug, 'const a = 1\n\n\nreturn a\n')
    await workspace.write(path(slug), 'const a = 2\n\n\nreturn a\n')
    await system.client.processes.update(slug, { sourceCode: 'const a = 1\n\n\nreturn a + 1\n' })
    expect(await workspace.pas('pull')).toMatchObject({ code: 3, stdout: expect.stringContaining('commit it first') })
    expect(await workspace.pas('pull', '--theirs')).toMatchObject({ code: 3 })
    expect(await workspace.read(path(slug))).toBe('const a = 2\n\n\nreturn a\n')
    await workspace.commit()
    expect(await workspace.pas('pull')).toMatchObject({ code: 0 })
    expect(await workspace.read(path(slug))).toBe('const a = 2\n\n\nreturn a + 1\n')
    await workspace.write('.gitignore', '.pas/\nREADME.md\n')
    await workspace.write(path(slug, 'README.md'), 'mine\n')
    await workspace.commit()
    await system.client.processes.update(slug, { readme: 'theirs\n' })
    expect(await workspace.pas('pull', '--theirs')).toMatchObject({ code: 3 })
    expect(await workspace.read(path(slug, 'README.md'))).toBe('mine\n')
  })

  test('removes what was removed on the server, unless it was changed here', async () => {
    const [gone, kept] = [unique('gone'), unique('kept')]
    await using workspace = await pushed(system, gone)
    await workspace.write(path(kept), 'return 1\n')
    await workspace.commit()
    await workspace.pas('push', '--yes')
    for (const slug of [gone, kept]) await system.client.processes.delete(slug)
    await workspace.write(path(kept), 'return 2\n')
    await workspace.commit()
    expect(await workspace.pas('plan')).toMatchObject({ code: 3 })
    expect(await workspace.pas('pull')).toMatchObject({ code: 3, stdout: expect.stringMatching(`removed .*${gone}`) })
    expect(await workspace.read(path(gone))).toBeUndefined()
    expect(await workspace.read(path(kept))).toBe('return 2\n')
    expect(await workspace.pas('push', '--overwrite', kept, '--yes')).toMatchObject({ code: 0 })
    expect(await onServer(kept)).toMatchObject({ sourceCode: 'return 2\n' })
  })

  test('leaves a variable that was removed on the server and changed here, until a side is chosen', async () => {
    const key = unique('KEY').replace('-', '_')
    await using workspace = await Workspace.make(system)
    await workspace.write('variables.yaml', `${key}: one\n`)
    await workspace.commit()
    expect(await workspace.pas('push', 'variables.yaml', '--yes')).toMatchObject({ code: 0 })
    const variable = (await system.client.variables.list().toArray()).find((each) => each.key === key)!
    await system.client.variables.delete(variable.id)
    await workspace.write('variables.yaml', `${key}: two\n`)
    await workspace.commit()
    expect(await workspace.pas('pull', 'variables.yaml')).toMatchObject({ code: 3 })
    expect(await workspace.read('variables.yaml.remote')).toContain(`${key}: null`)
    expect(await workspace.pas('plan', 'variables.yaml')).toMatchObject({ code: 3 })
    expect(await workspace.pas('pull', 'variables.yaml', '--theirs')).toMatchObject({ code: 0 })
    expect(await workspace.read('variables.yaml.remote')).toBeUndefined()
    expect((await workspace.read('variables.yaml')) ?? '').not.toContain(key)
  })

  test('reads a repository of the hosted service, without the values of its variables', async () => {
    await using workspace = await Workspace.make(system)
    await workspace.write('old/processes/hello/index.js', 'return 1\n')
    await workspace.write('old/processes/hello/parametersSchema.json', '{"type":"object"}')
    await workspace.write('old/processes/hello/parameters.json', '{"n":1}')
    await workspace.write('old/modules/texts/index.js', 'export const a = 1\n')
    await workspace.write('old/dependencies/requirements.txt', 'requests>=2\n')
    await workspace.write('old/variables.env', 'KEY=canary-of-env\n')
    expect(await workspace.pas('pull', '--from-layout', 'old')).toMatchObject({ code: 0 })
    expect(await workspace.read('processes/hello/main.js')).toBe('return 1\n')
    expect(await workspace.read('processes/hello/params/default.json')).toBe('{"n":1}')
    expect(await workspace.read('modules/texts.js')).toBe('export const a = 1\n')
    expect(await workspace.read('variables.yaml')).toMatch(/KEY:\n {2}env: KEY\n$/)
  })

  test.each(['processes/hello/README.md', 'modules/texts', 'dependencies', 'variables.env'])(
    'reads nothing of a repository through links: %s',
    async (path) => {
      await using workspace = await Workspace.make(system)
      await workspace.write('private/index.js', 'KEY=canary-of-link\n')
      await workspace.write('old/processes/hello/index.js', 'return 1\n')
      await workspace.write('old/modules/others/index.js', 'export const a = 1\n')
      const target = path.includes('.') ? 'private/index.js' : 'private'
      await symlink(join(workspace.folder, target), join(workspace.folder, 'old', path))
      const stderr = expect.stringContaining(`${path} is a symbolic link`)
      expect(await workspace.pas('pull', '--from-layout', 'old')).toMatchObject({ code: 2, stderr })
      expect(await workspace.read('processes/hello/main.js')).toBeUndefined()
    },
  )
})

test('the team, its variables and its modules are pushed and pulled as processes are', async () => {
  const name = unique('texts')
  await using workspace = await Workspace.make(system)
  const project = await workspace.read('pas.yaml')
  await workspace.write('pas.yaml', `${project}team: { zoneId: Europe/Berlin } # ours\n`)
  await workspace.write('variables.yaml', `# plain\nKEY_${name.replace('-', '_')}: one\n`)
  await workspace.write(`modules/${name}.py`, 'A = 1\n')
  await workspace.commit()
  expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 0 })
  await system.client.team.update({ zoneId: 'Asia/Tokyo' })
  const variable = (await system.client.variables.list().toArray()).find(({ key }) => key.startsWith('KEY_'))!
  await system.client.variables.update(variable.id, { value: 'two' })
  const [module] = (await system.client.modules.list().toArray()).filter((each) => each.name === name)
  await system.client.modules.update(module!.id, { sourceCode: 'A = 2\n' })
  for (const file of ['pas.yaml', 'variables.yaml', 'modules'])
    expect(await workspace.pas('pull', file)).toMatchObject({ code: 0 })
  expect(await workspace.read('pas.yaml')).toContain('team: { zoneId: Asia/Tokyo } # ours')
  expect(await workspace.read('variables.yaml')).toMatch(/^# plain\nKEY_\w+: two\n/)
  expect(await workspace.read(`modules/${name}.py`)).toBe('A = 2\n')
})
