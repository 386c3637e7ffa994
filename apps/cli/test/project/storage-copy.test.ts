import { execFileSync } from 'node:child_process'
import { chmod, lstat, mkdir, open, readFile, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { ownTeam, type OwnTeam } from './own-team.ts'
import { Workspace } from './workspace.ts'

let system: OwnTeam
beforeAll(async () => {
  system = await ownTeam('copies')
  return system.leave
}, 150_000)

test('a download keeps links, modes and what is no file', async () => {
  await using workspace = await Workspace.make(system)
  const path = (name: string) => join(workspace.folder, name)
  await system.client.storage.upload('a.txt', new Blob(['new']))
  await workspace.write('real.txt', 'old')
  await chmod(path('real.txt'), 0o600)
  for (const [name, target] of [
    ['link', 'real.txt'],
    ['dangling', 'made.txt'],
  ] as const) {
    await symlink(target, path(name))
    expect(await workspace.pas('storage', 'cp', 'team:a.txt', path(name))).toMatchObject({ code: 0 })
    expect((await lstat(path(name))).isSymbolicLink()).toBe(true)
    expect(await workspace.read(target)).toBe('new')
  }
  expect((await stat(path('real.txt'))).mode & 0o777).toBe(0o600)
  execFileSync('mkfifo', [path('pipe')])
  const reading = readFile(path('pipe'), 'utf8')
  expect(await workspace.pas('storage', 'cp', 'team:a.txt', path('pipe'))).toMatchObject({ code: 0 })
  expect(await reading).toBe('new')
  expect((await stat(path('pipe'))).isFIFO()).toBe(true)
})

test('a download into a file that is open, as /dev/stdout is in a shell, goes to its end', async () => {
  await using workspace = await Workspace.make(system)
  await system.client.storage.upload('b.txt', new Blob(['new']))
  await workspace.write('log', 'old ')
  await using log = await open(join(workspace.folder, 'log'), 'a')
  for (const place of ['/dev/fd', '/proc/self/fd'])
    expect(await workspace.pas('storage', 'cp', 'team:b.txt', `${place}/${log.fd}`)).toMatchObject({ code: 0 })
  expect(await workspace.read('log')).toBe('old newnew')
  expect((await log.stat()).nlink).toBe(1)
})

test('a folder is copied with its names as they are, and what is left out is told', async () => {
  await using workspace = await Workspace.make(system)
  const path = (name: string) => join(workspace.folder, name)
  await workspace.write('site/..data/a\\b.txt', 'one')
  await symlink('nowhere', path('site/link'))
  const up = await workspace.pas('storage', 'cp', '-r', path('site'), 'team:site')
  expect(up).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Left out.*site\/link\n1 files copied/) })
  const { data } = await system.client.request<{ name: string }[]>('GET', '/storage/objects', {
    query: { prefix: 'site/' },
  })
  expect(JSON.stringify(data)).toContain(JSON.stringify('site/..data/a\\b.txt'))
  await mkdir(path('back'))
  expect(await workspace.pas('storage', 'cp', '-r', 'team:site', path('back'))).toMatchObject({ code: 0 })
  expect(await workspace.read('back/..data/a\\b.txt')).toBe('one')
})

test('pas api prints JSON once with --json', async () => {
  await using workspace = await Workspace.make(system)
  const { stdout } = await workspace.pas('api', 'GET', '/team', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ slug: system.team })
})
