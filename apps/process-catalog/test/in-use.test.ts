import { ModuleService } from '@automation/contract/catalog/v1/module'
import { unavailable } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import { operatorContext, refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

interface Owner {
  process?: string
  module?: string
}

const publish = (caller: CallContext, owner: Owner, tag: string, sourceCode?: string) =>
  catalog.versions.publishVersion({ ...owner, tag, sourceCode }, caller)
const alias = (caller: CallContext, owner: Owner, name: string, version: string) =>
  catalog.aliases.createAlias({ ...owner, name, version }, caller)
const deleteVersion = (caller: CallContext, owner: Owner, version: string) =>
  catalog.versions.deleteVersion({ ...owner, version }, caller)
const deleteAlias = (caller: CallContext, owner: Owner, aliasId: string) =>
  catalog.aliases.deleteAlias({ ...owner, aliasId }, caller)

function handle(caller: CallContext, errorHandlerConfig?: { processSlug: string; tag: string }) {
  const mask = { paths: ['error_handler_config'] }
  return catalog.teams.updateTeam({ values: { errorHandlerConfig }, mask }, caller)
}

describe('of a process', () => {
  test('a version stays that aliases, schedules or the error handler use, and the refusal names up to five of them', async () => {
    const caller = await catalog.team()
    const { id: process, slug } = await catalog.process(caller)
    const { id } = await publish(caller, { process }, 'v1')
    const used = `${caller.principal.team} ${process}`
    const inUse = (message: string) => ({
      ...{ kind: 'invalid_argument', code: 'version_in_use', message },
      fields: [{ path: '/versionId' }],
    })
    catalog.scheduler.users.set(`${used} v1`, ['nightly'])
    catalog.scheduler.users.set(`${used} ${id}`, [undefined])
    for (const version of ['v1', id])
      await expect(deleteVersion(caller, { process }, version)).rejects.toMatchObject(
        inUse('The version v1 is used by schedule s1 (nightly), schedule s2'),
      )
    await handle(caller, { processSlug: slug, tag: id.toUpperCase() })
    const { id: live } = await alias(caller, { process }, 'live', 'v1')
    catalog.scheduler.users.set(`${used} v1`, ['1', '2', '3', '4', '5', '6'])
    await expect(deleteVersion(caller, { process }, 'v1')).rejects.toMatchObject(
      inUse(
        'The version v1 is used by alias live, schedule s1 (1), schedule s2 (2), schedule s3 (3), schedule s4 (4), 4 more',
      ),
    )
    catalog.scheduler.users.clear()
    await deleteAlias(caller, { process }, live)
    await expect(deleteVersion(caller, { process }, 'v1')).rejects.toMatchObject(
      inUse('The version v1 is used by the error handler of the team'),
    )
    await handle(caller, { processSlug: slug, tag: '' })
    await deleteVersion(caller, { process }, 'v1')
    expect(await refusal(catalog.versions.getVersion({ process, version: id }, caller))).toBe('version_not_found')
  })

  test('an alias stays that schedules or the error handler use', async () => {
    const caller = await catalog.team()
    const { id: process, slug } = await catalog.process(caller)
    await publish(caller, { process }, 'v1')
    const { id } = await alias(caller, { process }, 'live', 'v1')
    catalog.scheduler.users.set(`${caller.principal.team} ${process} live`, ['nightly'])
    await handle(caller, { processSlug: slug, tag: 'live' })
    await expect(deleteAlias(caller, { process }, id)).rejects.toMatchObject({
      ...{ kind: 'invalid_argument', code: 'alias_in_use', fields: [{ path: '/aliasId' }] },
      message: 'The alias live is used by schedule s1 (nightly), the error handler of the team',
    })
    catalog.scheduler.users.clear()
    await handle(caller)
    await deleteAlias(caller, { process }, id)
  })

  test('a version or alias stays that its form runs, until the form is closed', async () => {
    const caller = await catalog.team()
    const { id: process } = await catalog.process(caller)
    const { id: version } = await publish(caller, { process }, 'v1')
    const { id } = await alias(caller, { process }, 'live', 'v1')
    const form = (formsEnabled: boolean, formsTag: string) =>
      catalog.processes.updateProcess(
        { identifier: process, values: { formsEnabled, formsTag }, mask: { paths: ['forms_enabled', 'forms_tag'] } },
        caller,
      )
    await form(true, 'live')
    const message = 'The alias live is used by the form of the process'
    await expect(deleteAlias(caller, { process }, id)).rejects.toMatchObject({ code: 'alias_in_use', message })
    await form(true, version.toUpperCase())
    await deleteAlias(caller, { process }, id)
    await expect(deleteVersion(caller, { process }, 'v1')).rejects.toMatchObject({ code: 'version_in_use' })
    await form(false, version)
    await deleteVersion(caller, { process }, 'v1')
  })

  test('nothing is deleted while the scheduler does not say whether schedules use it', async () => {
    const caller = await catalog.team()
    const { id: process } = await catalog.process(caller)
    const { id: version } = await publish(caller, { process }, 'v1')
    await publish(caller, { process }, 'v2')
    const { id } = await alias(caller, { process }, 'live', 'v2')
    catalog.scheduler.failure = unavailable('away')
    const message = 'Schedules can not be asked now whether they use it, try again'
    await expect(deleteVersion(caller, { process }, version)).rejects.toMatchObject({ kind: 'unavailable', message })
    await expect(deleteAlias(caller, { process }, id)).rejects.toMatchObject({ kind: 'unavailable', message })
    catalog.scheduler.failure = undefined
    expect((await catalog.versions.listVersions({ process }, caller)).versions).toHaveLength(2)
    await deleteAlias(caller, { process }, id)
  })
})

describe('of a module', () => {
  const lib = async (caller: CallContext) =>
    (await catalog.client(ModuleService).createModule({ name: 'lib', sourceCode: '' }, caller)).id

  test('a version or alias stays that is imported by name or id; other teams are only counted', async () => {
    const [caller, child] = [await catalog.team(), await catalog.team()]
    const pair = { child: child.principal.team, parent: caller.principal.team }
    await catalog.teams.grantParent(pair, operatorContext())
    const values = { parentTeamSlugs: [pair.parent] }
    await catalog.teams.updateTeam({ values, mask: { paths: ['parent_team_slugs'] } }, child)
    const module = await lib(caller)
    const { id } = await publish(caller, { module }, 'v1')
    await publish(caller, { module }, 'v2')
    const live = await alias(caller, { module }, 'live', 'v2')
    await catalog.process(caller, { name: 'current', sourceCode: "svc.import('lib')" })
    await deleteVersion(caller, { module }, (await publish(caller, { module }, 'unused')).id)

    const byTag = await catalog.process(caller, { name: 'by tag', sourceCode: "svc.import('lib', 'v1')" })
    await catalog.process(child, { name: 'by id', sourceCode: `svc.import('lib', '${id}')` })
    await publish(caller, { module }, 'v3', "svc.import('lib', 'v1')")
    await expect(deleteVersion(caller, { module }, 'v1')).rejects.toMatchObject({
      ...{ kind: 'invalid_argument', code: 'version_in_use' },
      message: `The version v1 is used by process ${byTag.slug}, version v3 of module lib, 1 in other teams`,
    })
    await expect(deleteVersion(caller, { module }, 'v2')).rejects.toMatchObject({
      message: 'The version v2 is used by alias live',
    })
    await catalog.process(child, { name: 'by alias', sourceCode: "svc.import('lib', 'live')" })
    await expect(deleteAlias(caller, { module }, live.id)).rejects.toMatchObject({
      ...{ code: 'alias_in_use', message: 'The alias live is used by 1 in other teams' },
    })
    await deleteVersion(caller, { module }, 'v3')
  })

  test('a version that imports itself alone may go, also while the scheduler is away', async () => {
    const caller = await catalog.team()
    const module = await lib(caller)
    await publish(caller, { module }, 'v1', "svc.import('lib', 'v1')")
    catalog.scheduler.failure = unavailable('away')
    await deleteVersion(caller, { module }, 'v1')
    catalog.scheduler.failure = undefined
  })
})
