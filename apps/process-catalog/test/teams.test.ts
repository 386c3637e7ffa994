import { randomUUID } from 'node:crypto'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import type { CallContext } from '@automation/rpc'
import { operatorContext, serviceContext, userContext, refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

describe('teams', () => {
  test('a new team is named like its slug, lives in UTC and checks no parameters', async () => {
    const team = await catalog.teams.createTeam({ slug: 'fresh' }, operatorContext())
    expect(team).toMatchObject({ slug: 'fresh', name: 'fresh', zoneId: 'UTC', paramsSchemaValidationEnabled: false })
    expect(team.parentTeamSlugs).toEqual([])
    expect(await catalog.teams.getTeam({}, userContext('fresh'))).toEqual(team)
  })

  test('a slug is 1 to 63 lower-case letters, digits and inner hyphens', async () => {
    for (const slug of ['', 'A', 'a_b', '-a', 'a-', 'a b', 'a\n', 'a\0', 'ä', 'a'.repeat(64)])
      expect(await refusal(catalog.teams.createTeam({ slug }, operatorContext())), slug).toBe('/slug')
    for (const slug of ['7', 'a-b', 'a'.repeat(63)])
      expect((await catalog.teams.createTeam({ slug }, operatorContext())).slug).toBe(slug)
  })

  test('a slug that is taken is team_exists', async () => {
    await catalog.team('twice')
    const second = catalog.teams.createTeam({ slug: 'twice' }, operatorContext())
    await expect(second).rejects.toMatchObject({ kind: 'already_exists', code: 'team_exists' })
  })

  test('a team that is not there is team_not_found, for reading and for writing', async () => {
    const caller = userContext('not-there')
    expect(await refusal(catalog.teams.getTeam({}, caller))).toBe('team_not_found')
    expect(await refusal(catalog.process(caller))).toBe('team_not_found')
    expect(await refusal(catalog.processes.getProcess({ identifier: 'x' }, caller))).toBe('team_not_found')
    expect(await refusal(catalog.variables.listVariables({}, caller))).toBe('team_not_found')
    expect(await refusal(catalog.resolve('not-there', 'x'))).toBe('team_not_found')
    expect(await refusal(catalog.resolve('not-there', 'x', '', 5n))).toBe('team_not_found')
    expect(await refusal(catalog.resolve('\0', 'x', '', 5n))).toBe('team_not_found')
  })

  test('name, zone and parameter checks may be changed, one by one', async () => {
    const caller = await catalog.team()
    const values = { name: 'The Team', zoneId: 'Europe/Berlin', paramsSchemaValidationEnabled: true }
    const update = (...paths: string[]) => catalog.teams.updateTeam({ values, mask: { paths } }, caller)
    expect(await update('name')).toMatchObject({ name: 'The Team', zoneId: 'UTC' })
    expect(await update('zone_id', 'params_schema_validation_enabled')).toMatchObject(values)
    expect(await catalog.teams.getTeam({}, caller)).toMatchObject(values)
  })

  describe('the error handler', () => {
    type Handler = { processSlug?: string; tag?: string }
    const whole = ['error_handler_config']
    const config = async (caller: CallContext) => {
      const { errorHandlerConfig: handler } = await catalog.teams.getTeam({}, caller)
      return handler && [handler.processSlug, handler.tag]
    }
    const set = (caller: CallContext, handler: Handler | undefined, paths = whole) =>
      catalog.teams.updateTeam({ values: { errorHandlerConfig: handler }, mask: { paths } }, caller)

    test('it is a process, or a version of it by id, tag or alias, and goes when it is cleared', async () => {
      const caller = await catalog.team()
      const { slug } = await catalog.process(caller, { name: 'mend' })
      const version = await catalog.versions.publishVersion({ process: slug, tag: 'v1' }, caller)
      await catalog.aliases.createAlias({ process: slug, name: 'live', version: version.id }, caller)
      expect(await config(caller)).toBeUndefined()
      for (const tag of ['', 'v1', 'live', version.id]) {
        await set(caller, { processSlug: slug, tag })
        expect(await config(caller)).toEqual([slug, tag])
      }
      await set(caller, undefined)
      expect(await config(caller)).toBeUndefined()
    })

    test('its fields may be changed one by one', async () => {
      const caller = await catalog.team()
      for (const name of ['one', 'two']) {
        await catalog.process(caller, { name })
        await catalog.versions.publishVersion({ process: name, tag: 'v1' }, caller)
      }
      const slug = ['error_handler_config.process_slug']
      const tag = ['error_handler_config.tag']
      expect(await refusal(set(caller, { tag: 'v1' }, tag))).toBe('/errorHandlerConfig/processSlug')
      await set(caller, { processSlug: 'one', tag: 'v1' }, [...slug, ...tag])
      await set(caller, { processSlug: 'two', tag: 'of no account' }, slug)
      expect(await config(caller)).toEqual(['two', 'v1'])
      await set(caller, {}, tag)
      expect(await config(caller)).toEqual(['two', ''])
    })

    test('one that is not there is refused with what is missing, and changes nothing', async () => {
      const caller = await catalog.team()
      await catalog.process(caller, { name: 'mine' })
      await catalog.process(await catalog.team(), { name: 'theirs' })
      await set(caller, { processSlug: 'mine' })
      for (const processSlug of ['theirs', 'gone', 'No Slug', '\0'])
        expect(await refusal(set(caller, { processSlug })), processSlug).toBe('process_not_found')
      for (const tag of ['v1', 'no tag', '\0', '0190f1f0-0000-7000-8000-000000000000'])
        expect(await refusal(set(caller, { processSlug: 'mine', tag })), tag).toBe('version_not_found')
      await expect(set(caller, { processSlug: 'gone' })).rejects.toThrow(
        'Process not found: there is no process "gone"',
      )
      await expect(set(caller, { processSlug: 'mine', tag: 'v1' })).rejects.toThrow(
        'Version not found: the process has no version or alias "v1"',
      )
      expect(await refusal(set(caller, { processSlug: '' }))).toBe('/errorHandlerConfig/processSlug')
      expect(await config(caller)).toEqual(['mine', ''])
    })

    test('it is still its process when that gets another slug, and the change has a record', async () => {
      const caller = await catalog.team()
      const { slug } = await catalog.process(caller, { name: 'before' })
      const { id } = await catalog.process(caller, { name: 'other' })
      await set(caller, { processSlug: slug })
      const { etag } = await catalog.teams.getTeam({}, caller)
      const rename = (identifier: string, to: string) =>
        catalog.processes.updateProcess({ identifier, values: { slug: to }, mask: { paths: ['slug'] } }, caller)
      await rename(id, 'another')
      expect((await catalog.teams.getTeam({}, caller)).etag).toBe(etag)
      await rename(slug, 'after')
      expect(await config(caller)).toEqual(['after', ''])
      expect((await catalog.teams.getTeam({}, caller)).updatedBy).toBe('tester')
    })

    test('its process may be deleted; the team keeps the name', async () => {
      const caller = await catalog.team()
      const { slug } = await catalog.process(caller, { name: 'short-lived' })
      await set(caller, { processSlug: slug })
      await catalog.processes.deleteProcess({ identifier: slug }, caller)
      expect(await config(caller)).toEqual([slug, ''])
      await catalog.teams.updateTeam({ values: { name: 'Renamed' }, mask: { paths: ['name'] } }, caller)
    })
  })

  test('other fields can not be changed, and the refusal names them', async () => {
    const caller = await catalog.team()
    for (const [path, pointer] of [
      ['slug', '/slug'],
      ['created_at', '/createdAt'],
      ['nonsense', '/nonsense'],
    ])
      expect(await refusal(catalog.teams.updateTeam({ values: {}, mask: { paths: [path!] } }, caller))).toBe(pointer)
  })

  test('a zone is one that IANA names', async () => {
    const caller = await catalog.team()
    const update = (zoneId: string) =>
      catalog.teams.updateTeam({ values: { zoneId }, mask: { paths: ['zone_id'] } }, caller)
    for (const zoneId of ['', 'Mars/Olympus', '+01:00', '-0500', 'Europe/Berlin\0', '../etc'])
      expect(await refusal(update(zoneId)), zoneId).toBe('/zoneId')
    expect((await update('europe/berlin')).zoneId).toBe('Europe/Berlin')
    expect((await update('Asia/Calcutta')).zoneId).toMatch(/^Asia\/(Calcutta|Kolkata)$/)
    expect((await update('UTC')).zoneId).toBe('UTC')
  })

  test('a name is required and bounded', async () => {
    const caller = await catalog.team()
    for (const name of ['', ' ', 'x\0', 'x'.repeat(256)])
      expect(await refusal(catalog.teams.updateTeam({ values: { name }, mask: { paths: ['name'] } }, caller))).toBe(
        '/name',
      )
  })
})

describe("the operator's calls", () => {
  test('all teams are listed by slug', async () => {
    await catalog.team('zz')
    await catalog.team('aa')
    const slugs = (await catalog.teams.listTeams({}, operatorContext())).teams.map(({ slug }) => slug)
    expect(slugs).toEqual(slugs.toSorted())
    expect(slugs).toEqual(expect.arrayContaining(['aa', 'zz']))
  })

  test('how many there are is told to other parts of the system alone', async () => {
    const { principal } = await catalog.team()
    const { teams } = await catalog.teams.listTeams({}, operatorContext())
    const { count } = await catalog.teams.countTeams({}, serviceContext('gateway', ''))
    expect(count).toBe(teams.length)
    expect(await refusal(catalog.teams.countTeams({}, userContext(principal.team)))).toBe('permission_denied')
  })

  test('granting and revoking twice is no error; both teams must be there and differ', async () => {
    await catalog.team('child')
    await catalog.team('parent')
    const pair = { child: 'child', parent: 'parent' }
    for (const call of [catalog.teams.grantParent, catalog.teams.revokeParent]) {
      await call(pair, operatorContext())
      await call(pair, operatorContext())
      expect(await refusal(call({ ...pair, parent: 'no-team' }, operatorContext()))).toBe('team_not_found')
      expect(await refusal(call({ ...pair, child: 'no-team' }, operatorContext()))).toBe('team_not_found')
      expect(await refusal(call({ ...pair, child: '\0' }, operatorContext()))).toBe('team_not_found')
      expect(await refusal(call({ child: 'child', parent: 'child' }, operatorContext()))).toBe('/parent')
    }
  })

  test('nobody else may make them', async () => {
    const caller = await catalog.team()
    for (const context of [caller, serviceContext('gateway', caller.principal.team)]) {
      const calls = [
        catalog.teams.createTeam({ slug: 'mine' }, context),
        catalog.teams.listTeams({}, context),
        catalog.teams.grantParent({ child: 'a', parent: 'b' }, context),
        catalog.teams.revokeParent({ child: 'a', parent: 'b' }, context),
        catalog.tokens.rotateSigningKey({}, context),
        catalog.tokens.createApiToken({ team: caller.principal.team }, context),
        catalog.tokens.listApiTokens({ team: caller.principal.team }, context),
        catalog.tokens.revokeApiToken({ clientId: 'sa-a-00000000' }, context),
      ]
      for (const call of calls) expect(await refusal(call)).toBe('permission_denied')
    }
  })
})

test("a team's calls are for its members: not for callers without a team, runs or runners", async () => {
  const { principal } = await catalog.team()
  for (const caller of [
    operatorContext(),
    userContext(''),
    userContext(principal.team, { role: 'run' }),
    userContext(principal.team, { role: 'runner' }),
  ]) {
    expect(await refusal(catalog.teams.getTeam({}, caller))).toBe('permission_denied')
    expect(await refusal(catalog.process(caller))).toBe('permission_denied')
    expect(await refusal(catalog.versions.listVersions({ process: 'x' }, caller))).toBe('permission_denied')
    expect(await refusal(catalog.aliases.listAliases({ process: 'x' }, caller))).toBe('permission_denied')
    expect(await refusal(catalog.variables.listVariables({}, caller))).toBe('permission_denied')
  }
})

describe('addresses that the tokens of a team may be used from', () => {
  const list = (knownRevision = 0n) =>
    catalog.client(TeamLimitService).listTeamLimits({ knownRevision }, serviceContext('gateway'))
  const allow = (ip: string | undefined, ...allowedAddresses: string[]) =>
    catalog.teams.updateTeam(
      { values: { allowedAddresses }, mask: { paths: ['allowed_addresses'] } },
      userContext('guarded', { ip }),
    )

  test('are told to gateways, lock nobody out who sets them, and are cleared by the operator', async () => {
    await catalog.team('guarded')
    const ranges = ['192.0.2.0/24', '2001:db8::1']
    expect(await refusal(allow('198.51.100.1', ...ranges))).toBe('/allowedAddresses')
    expect(await refusal(allow(undefined, ...ranges))).toBe('/allowedAddresses')
    expect(await refusal(allow('192.0.2.1', '192.0.2.0/33'))).toBe('/allowedAddresses/0')
    const before = await list()
    expect((await allow('192.0.2.1', ...ranges)).allowedAddresses).toEqual(ranges)
    const first = await list(before.revision)
    expect(first.addresses).toMatchObject([{ team: 'guarded', ranges }])
    expect(first.limits.filter(({ name }) => name === 'allowedAddresses')).toEqual([])
    const clear = (team: string, by: CallContext) => catalog.teams.clearAllowedAddresses({ team }, by)
    expect(await refusal(clear('guarded', userContext('guarded')))).toBe('permission_denied')
    expect(await refusal(clear('nobody', operatorContext()))).toBe('team_not_found')
    await clear('guarded', operatorContext())
    expect(await list(first.revision)).toMatchObject({ addresses: [] })
    expect((await catalog.teams.getTeam({}, userContext('guarded'))).allowedAddresses).toEqual([])
  })
})

describe('limits of a team', () => {
  const limits = () => catalog.client(TeamLimitService)
  const set = (team: string, name: string, value?: bigint) =>
    limits().setTeamLimit({ team, name, value }, operatorContext())
  const list = (knownRevision = 0n) => limits().listTeamLimits({ knownRevision }, serviceContext('execution'))

  test('are set and taken back by the operator, and told only where they are new', async () => {
    await catalog.team('limited')
    await set('limited', 'running', 7n)
    await set('limited', 'stored', 0n)
    const first = await list()
    const mine = first.limits.filter(({ team }) => team === 'limited')
    expect(mine.map(({ name, value }) => [name, value])).toEqual([
      ['running', 7n],
      ['stored', 0n],
    ])
    expect((await list(first.revision)).limits).toEqual([])
    await set('limited', 'stored')
    const second = await list(first.revision)
    expect(second.limits.filter(({ team }) => team === 'limited').map(({ name }) => name)).toEqual(['running'])
  })

  test('have names and ranges, and belong to a team that is there', async () => {
    expect(await refusal(set('limited', 'colour', 1n))).toBe('/name')
    expect(await refusal(set('limited', 'constructor', 1n))).toBe('/name')
    expect(await refusal(set('limited', 'running', 0n))).toBe('/value')
    expect(await refusal(set('limited', 'sandboxes', 100_001n))).toBe('/value')
    await expect(set('nobody', 'running', 1n)).rejects.toMatchObject({ code: 'team_not_found' })
    const request = { team: 'limited', name: 'running', value: 1n }
    await expect(limits().setTeamLimit(request, userContext('limited'))).rejects.toMatchObject({
      kind: 'permission_denied',
    })
  })

  const ask = (gateway: string, of = catalog) =>
    of.client(TeamLimitService).listTeamLimits({ knownRevision: 0n, gateway }, serviceContext('gateway'))

  test('on calls are shared by the gateways that have asked lately', async () => {
    const [one, two] = [randomUUID(), randomUUID()]
    expect([(await ask(one)).gateways, (await ask(two)).gateways]).toEqual([1, 1])
    await set('limited', 'callsPerSecond', 5n)
    await ask(one)
    expect((await ask(two)).gateways).toBe(2)
  })

  test('on calls are shared where all teams have one, too', async () => {
    const own = await startCatalog({ limitsCalls: true })
    onTestFinished(() => own.stop())
    await ask(randomUUID(), own.catalog)
    expect((await ask(randomUUID(), own.catalog)).gateways).toBe(2)
  })
})
