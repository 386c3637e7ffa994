import { beforeAll, expect, test } from 'vitest'
import { ownTeam, type OwnTeam } from './own-team.ts'
import { pushed, sourceOf as path, unique, Workspace } from './workspace.ts'

let system: OwnTeam
beforeAll(async () => {
  system = await ownTeam('restored')
  return system.leave
}, 150_000)

const { daily, source } = { daily: 'schedules: { daily: { cron: "0 8 * * *" } }\n', source: 'return 1\n\n\nreturn 2\n' }

async function schedulesOf(slug: string) {
  const { id } = await system.client.processes.get(slug)
  return (await system.client.schedules.list({ processId: id }).toArray()).map(({ cron }) => cron)
}

/** Files of a process with a schedule, gone from the server and from HEAD. */
const ways = {
  'push --prune removed': async (workspace: Workspace, slug: string) => {
    await workspace.remove(`processes/${slug}`)
    await workspace.commit('removed')
    expect(await workspace.pas('push', '--prune', '--yes')).toMatchObject({ code: 0 })
  },
  'pull removed': async (workspace: Workspace, slug: string) => {
    await system.client.processes.delete(slug)
    expect(await workspace.pas('pull', `processes/${slug}`)).toMatchObject({ code: 0 })
    await workspace.commit('removed')
  },
}

test.for(Object.entries(ways))('a process that %s comes back with its schedules', async ([, remove]) => {
  const slug = unique('restored')
  await using workspace = await pushed(system, slug, source, daily)
  expect(await schedulesOf(slug)).toEqual(['0 8 * * *'])
  await remove(workspace, slug)
  await workspace.git('revert', '--no-edit', 'HEAD')
  expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 0 })
  expect(await schedulesOf(slug)).toEqual(['0 8 * * *'])
  expect(await workspace.pas('status', `processes/${slug}`)).toMatchObject({ code: 0, stdout: '' })
})

test.for([false, true])(
  'push --overwrite of a process that somebody has removed brings its schedules, changed here: %s',
  async (isChanged) => {
    const slug = unique('overwritten')
    await using workspace = await pushed(system, slug, source, daily)
    await system.client.processes.delete(slug)
    if (isChanged) await workspace.write(path(slug), 'return "changed"\n')
    await workspace.commit()
    expect(await workspace.pas('push', `processes/${slug}`, '--overwrite', slug, '--yes')).toMatchObject({ code: 0 })
    expect(await schedulesOf(slug)).toEqual(['0 8 * * *'])
    expect(await workspace.pas('pull', `processes/${slug}`, '--theirs')).toMatchObject({ code: 0 })
    expect(await workspace.read(path(slug))).toBeDefined()
  },
)

const theirs = source.replace('2', '"theirs"')
const onServer = async (slug: string) => (await system.client.processes.get(slug)).sourceCode

test.for<[string, string]>([
  ['as it was', source],
  ['changed elsewhere', source.replace('1', '"ours"')],
])('what pull took and git discarded is not overwritten by the file %s', async ([, ours]) => {
  const slug = unique('discarded')
  await using workspace = await pushed(system, slug, source)
  await system.client.processes.update(slug, { sourceCode: theirs })
  for (let round = 0; round < 2; round += 1) {
    expect(await workspace.pas('pull', `processes/${slug}`)).toMatchObject({ code: 0 })
    expect(await workspace.read(path(slug))).toBe(theirs)
    await workspace.git('checkout', '.')
  }
  await workspace.write(path(slug), ours)
  await workspace.commit()
  await workspace.pas('push', `processes/${slug}`, '--yes')
  expect(await onServer(slug)).toBe(theirs)
  expect(await workspace.pas('pull', `processes/${slug}`)).toMatchObject({ code: 0 })
  expect(await workspace.pas('push', `processes/${slug}`, '--yes')).toMatchObject({ code: 0 })
  expect(await onServer(slug)).toBe(ours.replace('2', '"theirs"'))
})

test('what pull took may be changed further and pushed without a commit', async () => {
  const slug = unique('further')
  await using workspace = await pushed(system, slug, source)
  await system.client.processes.update(slug, { sourceCode: theirs })
  await workspace.pas('pull', `processes/${slug}`)
  await workspace.write(path(slug), theirs.replace('1', '"ours"'))
  expect(await workspace.pas('push', `processes/${slug}`, '--yes')).toMatchObject({ code: 0 })
  expect(await onServer(slug)).toBe(theirs.replace('1', '"ours"'))
})

test('push --prune does not remove what pull has brought and git discarded', async () => {
  const [slug, later] = [unique('first'), unique('later')]
  await using other = await pushed(system, slug, source)
  await using clone = await Workspace.make(system, other)
  // By the first commit, both are one repository.
  await clone.git('remote', 'remove', 'origin')
  await other.write(path(later), source)
  await other.commit()
  expect(await other.pas('push', '--yes')).toMatchObject({ code: 0 })
  expect(await clone.pas('pull', `processes/${later}`)).toMatchObject({ code: 0 })
  await clone.git('clean', '-fdq')
  expect(await clone.pas('push', `processes/${later}`, '--prune', '--yes')).toMatchObject({ code: 0 })
  expect(await onServer(later)).toBe(source)
})
