import { readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { ownTeam, type OwnTeam } from './own-team.ts'
import { pushed, sourceOf, unique, Workspace } from './workspace.ts'

let system: OwnTeam
beforeAll(async () => {
  system = await ownTeam('faults')
  return system.leave
}, 150_000)

test('a module that is there as JavaScript and as TypeScript is a fault', async () => {
  await using workspace = await Workspace.make(system)
  await workspace.write('modules/m.js', 'export const a = 1\n')
  await workspace.write('modules/m.ts', 'export const a: number = 2\n')
  const stderr = expect.stringContaining('modules/m.ts: modules/m.js is the same module: keep one of the two')
  for (const command of [['push', '--yes'], ['pull']])
    expect(await workspace.pas(...command)).toMatchObject({ code: 1, stderr })
})

test('a source that is not UTF-8 is a fault', async () => {
  await using workspace = await Workspace.make(system)
  const path = sourceOf(unique('latin'))
  await workspace.write(path, '')
  await writeFile(join(workspace.folder, path), Buffer.from('return "\xe4"\n', 'latin1'))
  const stderr = expect.stringContaining(`${path} is not UTF-8`)
  expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 2, stderr })
})

test('a link in the place of a file that is written for a moment is not followed', async () => {
  const slug = unique('moment')
  await using workspace = await pushed(system, slug)
  await using other = await Workspace.make(system)
  await other.write('keys.txt', 'secret\n')
  await symlink(join(other.folder, 'keys.txt'), join(workspace.folder, `${sourceOf(slug)}.pas-new`))
  await system.client.processes.update(slug, { sourceCode: 'return 2\n' })
  expect(await workspace.pas('pull')).toMatchObject({ code: 0 })
  expect(await workspace.read(sourceOf(slug))).toBe('return 2\n')
  expect(await other.read('keys.txt')).toBe('secret\n')
})

test('a link in the place of what this clone has seen is refused', async () => {
  const slug = unique('seen')
  await using workspace = await pushed(system, slug)
  await using other = await Workspace.make(system)
  await other.write('bases/keep.txt', '')
  await rm(join(workspace.folder, '.pas'), { recursive: true })
  await symlink(join(other.folder, 'bases'), join(workspace.folder, '.pas'))
  const stderr = expect.stringContaining('.pas is a symbolic link')
  expect(await workspace.pas('pull')).toMatchObject({ code: 2, stderr })
  expect(await readdir(join(other.folder, 'bases'))).toEqual(['keep.txt'])
})

test('variables have the values that are written in the file', async () => {
  await using workspace = await Workspace.make(system)
  const written = { VERSION: '1.10', ZIP: '01234', HEX: '0x1F', LARGE: '12345678901234567890', ON: 'true' }
  const lines = Object.entries(written).map(([name, value]) => `${name}: ${value}\n`)
  await workspace.write('variables.yaml', lines.join(''))
  await workspace.commit()
  expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 0 })
  const { data } = await system.client.variables.list().page()
  expect(Object.fromEntries(data.map(({ key, value }) => [key, value]))).toEqual(written)
  await using other = await Workspace.make(system)
  expect(await other.pas('pull')).toMatchObject({ code: 0 })
  expect(await other.pas('plan', '--check')).toMatchObject({ code: 0 })
})

test('unquoted values that an earlier pas has pushed as YAML reads them are updated from a fresh clone', async () => {
  const pushedFormerly = { F_NUMBER: '1.1', F_LARGE: '12345678901234567000', F_ON: 'true', F_EDITED: '2.5' }
  for (const [key, value] of Object.entries({ ...pushedFormerly, F_OTHERS: '7' }))
    await system.client.variables.create({ key, value, isSensitive: false })
  await using workspace = await Workspace.make(system)
  const lines = 'F_NUMBER: 1.10\nF_LARGE: 12345678901234567890\nF_ON: True\n'
  await workspace.write('variables.yaml', `${lines}F_EDITED: 2.50\nF_OTHERS: 6.0\n`)
  await workspace.commit()
  await workspace.write('variables.yaml', `${lines}F_EDITED: 2.60\nF_OTHERS: 6.0\n`)
  await workspace.commit()
  await using clone = await Workspace.make(system, workspace)
  const { code, stdout } = await clone.pas('plan', '--json')
  const { items } = JSON.parse(stdout) as { items: { key: string; action: string }[] }
  expect(Object.fromEntries(items.map(({ key, action }) => [key, action]))).toEqual({
    ...Object.fromEntries(Object.keys(pushedFormerly).map((name) => [`variable/${name}`, 'update'])),
    'variable/F_OTHERS': 'clash',
  })
  expect(code).toBe(3)
})

test('a variable of the team that no file can name is told of where it would be written', async () => {
  const { id } = await system.client.variables.create({ key: 'contexts', value: 'a', isSensitive: false })
  const slug = unique('beside')
  await using workspace = await pushed(system, slug)
  expect(await workspace.pas('pull', `processes/${slug}`)).toMatchObject({ code: 0 })
  const { stdout } = await workspace.pas('status')
  expect(stdout).toMatch(/^variable\/contexts +only on the server: variables.yaml has no variable of this name/m)
  const stderr = expect.stringContaining('Give the variable another name')
  expect(await workspace.pas('pull')).toMatchObject({ code: 2, stderr })
  expect(await workspace.read('variables.yaml')).toBeUndefined()
  expect(await workspace.pas('team', 'export', `${workspace.folder}/exported`)).toMatchObject({ code: 2, stderr })
  await system.client.variables.delete(id)
})
