import { TeamRemovalService } from '@automation/contract/catalog/v1/team_removal'
import { AuditService, AuditType, type AuditRecord } from '@automation/contract/audit/v1/audit'
import { ModuleService } from '@automation/contract/catalog/v1/module'
import { Language } from '@automation/contract/common/v1/language'
import { Status } from '@automation/contract/execution/v1/execution'
import type { CallContext } from '@automation/rpc'
import { operatorContext, serviceContext, until, userContext, refusal } from '@automation/testing'
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { quickUpkeep, startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'
import { manifestsOf, succeed } from './manifests.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const records = () => catalog.client(AuditService)
const list = async (caller: CallContext, filter: object = {}) =>
  (await records().listAuditRecords({ page: { page: 0, limit: 1000 }, ...filter }, caller)).records
const words = (found: AuditRecord[]) =>
  found.toReversed().map(({ type, event, entityId }) => `${AuditType[type]} ${event} ${entityId}`)
const withWho = ({ principal }: CallContext) =>
  userContext(principal.team, { name: 'Ann', initiatedBy: 'ann@example.com', ip: '192.0.2.7' })

describe('what is done in the catalog', () => {
  test('to a process, its versions and aliases is kept with who did it, also after its deletion', async () => {
    const caller = withWho(await catalog.team())
    const { id, slug } = await catalog.process(caller)
    await catalog.processes.updateProcess(
      { identifier: slug, values: { name: 'b' }, mask: { paths: ['name'] } },
      caller,
    )
    const version = await catalog.versions.publishVersion({ process: id, tag: 'v1' }, caller)
    const alias = await catalog.aliases.createAlias({ process: slug, name: 'live', version: 'v1' }, caller)
    await catalog.aliases.updateAlias({ process: id, aliasId: alias.id, name: 'now' }, caller)
    await catalog.aliases.deleteAlias({ process: id, aliasId: alias.id }, caller)
    await catalog.versions.deleteVersion({ process: id, version: version.id }, caller)
    await catalog.processes.deleteProcess({ identifier: slug }, caller)
    const found = await list(caller, { entityId: id })
    const events = ['created', 'updated', 'published', 'alias_created', 'alias_updated', 'alias_deleted']
    expect(words(found)).toEqual([...events, 'version_deleted', 'deleted'].map((event) => `PROCESS ${event} ${id}`))
    for (const record of found)
      expect(record).toMatchObject({ user: 'Ann', initiatedBy: 'ann@example.com', ip: '192.0.2.7' })
  })

  test('to modules, variables, the team and its tokens is kept under their names', async () => {
    const caller = await catalog.team()
    const { team } = caller.principal
    const { moduleId, variableId } = await things(caller)
    await catalog.teams.updateTeam({ values: { name: 'n' }, mask: { paths: ['name'] } }, caller)
    const { record } = await catalog.tokens.createApiToken({ team, name: 'ci' }, operatorContext())
    const { clientId } = record!
    await catalog.tokens.revokeApiToken({ clientId }, operatorContext())
    await catalog.tokens.revokeApiToken({ clientId }, operatorContext())
    expect(words(await list(caller))).toEqual([
      `TEAM created ${team}`,
      `MODULE created ${moduleId}`,
      `MODULE published ${moduleId}`,
      `VARIABLE created ${variableId}`,
      `VARIABLE updated ${variableId}`,
      `VARIABLE deleted ${variableId}`,
      `TEAM updated ${team}`,
      `TOKEN created ${clientId}`,
      `TOKEN revoked ${clientId}`,
    ])
    const [token] = await list(caller, { type: AuditType.TOKEN })
    expect(token).toMatchObject({ user: 'operator' })
  })

  test('to grants is kept with the team that inherits, once', async () => {
    const [child, parent] = [await catalog.team(), await catalog.team()]
    const pair = { child: child.principal.team, parent: parent.principal.team }
    for (const _ of [1, 2]) await catalog.teams.grantParent(pair, operatorContext())
    for (const _ of [1, 2]) await catalog.teams.revokeParent(pair, operatorContext())
    expect(words(await list(child, { type: AuditType.TEAM })).slice(1)).toEqual(
      Array(2).fill(`TEAM updated ${pair.child}`),
    )
    expect((await list(parent)).length).toBe(1)
  })

  test('to parents is kept with them, when a team begins to inherit and when it ceases', async () => {
    const [child, parent] = [withWho(await catalog.team()), await catalog.team()]
    const pair = { child: child.principal.team, parent: parent.principal.team }
    const name = (parents: string[], tokenTeams: string[] = []) =>
      catalog.teams.updateTeam(
        { values: { parentTeamSlugs: parents }, mask: { paths: ['parent_team_slugs'] }, tokenTeams },
        child,
      )
    const told = async () =>
      (await list(parent, { entityId: pair.child })).toReversed().map(({ event, user, ip }) => [event, user, ip])
    for (const _ of [1, 2]) await name([pair.parent], [pair.parent])
    await name([])
    expect(await told()).toEqual([
      ['child_added', 'Ann', undefined],
      ['child_removed', 'Ann', undefined],
    ])
    await catalog.teams.grantParent(pair, operatorContext())
    await name([pair.parent])
    await catalog.teams.revokeParent(pair, operatorContext())
    await catalog.teams.grantParent(pair, operatorContext())
    expect((await told()).slice(2).map(([event, user]) => [event, user])).toEqual([
      ['child_added', 'Ann'],
      ['child_removed', 'operator'],
      ['child_added', 'operator'],
    ])
    const removal = catalog.client(TeamRemovalService)
    await removal.beginRemoval({ team: pair.child }, operatorContext())
    await removal.finishRemoval({ team: pair.child }, operatorContext())
    expect((await told()).at(-1)!.slice(0, 2)).toEqual(['child_removed', 'operator'])
  })

  test('to signing keys is kept with every team', async () => {
    const callers = [await catalog.team(), await catalog.team()]
    await catalog.tokens.rotateSigningKey({}, operatorContext())
    await catalog.tokens.rotateSigningKey({ atOnce: true }, operatorContext())
    for (const caller of callers) {
      const found = await list(caller, { type: AuditType.TOKEN })
      expect(found.map(({ event }) => event)).toEqual(['keys_ended', 'keys_rotated', 'keys_rotated'])
      expect(new Set(found.map(({ user }) => user))).toEqual(new Set(['operator']))
    }
  })

  test('and is refused leaves nothing', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.process(caller)
    const before = await list(caller)
    const refusals = [
      catalog.process(caller, { slug: 'Not A Slug' }),
      catalog.versions.deleteVersion({ process: id, version: 'none' }, caller),
      catalog.aliases.createAlias({ process: id, name: 'live', version: 'none' }, caller),
      catalog.variables.deleteVariable({ id }, caller),
      catalog.dependencies.installDependencies({ language: Language.PYTHON }, caller),
      catalog.tokens.createApiToken({ team: 'no-such-team' }, operatorContext()),
    ]
    await Promise.all(refusals.map(refusal))
    await catalog.variables.createVariable({ key: 'A', value: '' }, caller)
    await refusal(catalog.variables.createVariable({ key: 'A', value: '' }, caller))
    expect((await list(caller)).length).toBe(before.length + 1)
  })

  test('holds no value', async () => {
    const caller = await catalog.team()
    const credentials = { webhookEnabled: true, webhookUsername: 'u', webhookPassword: 'canary-webhook' }
    await catalog.process(caller, { ...credentials, sourceCode: 'canary-source' })
    await catalog.variables.createVariable({ key: 'K', value: 'canary-value', isSensitive: true }, caller)
    const { apiToken } = await catalog.tokens.createApiToken({ team: caller.principal.team }, operatorContext())
    const kept = JSON.stringify(await catalog.sql('SELECT * FROM audit_records'))
    for (const secret of ['canary', apiToken, Buffer.from(apiToken.slice(3), 'base64').toString().split(':')[1]!])
      expect(kept).not.toContain(secret)
  })
})

describe('dependencies', () => {
  const { stage, install, discard, running } = manifestsOf(() => catalog)
  const events = async (caller: CallContext) =>
    words(await list(caller, { entityId: 'JAVASCRIPT' })).map((line) => line.split(' ')[1])

  test('an install that somebody asked for is theirs to its end', async () => {
    const caller = withWho(await catalog.team())
    await stage(caller, { lodash: '^4.17.0' })
    await discard(caller)
    await stage(caller, { lodash: '^4.17.1' })
    await install(caller)
    Object.assign(await running(caller, { lodash: '^4.17.1' }), succeed)
    await until(async () => (await events(caller)).length === 5)
    expect(await events(caller)).toEqual(['staged', 'discarded', 'staged', 'install_started', 'installed'])
    for (const record of await list(caller, { type: AuditType.DEPENDENCY })) expect(record.user).toBe('Ann')
  })

  test('an install that a source asks for is the system’s, and so is its failure', async () => {
    const caller = withWho(await catalog.team())
    await catalog.process(caller, { sourceCode: "require('underscore')", dependenciesAutoDetect: true })
    const run = await running(caller, { underscore: '*' })
    Object.assign(run, { status: Status.ERROR, explanation: 'InstallError: not today' })
    await until(async () => (await events(caller)).length === 2)
    expect(await events(caller)).toEqual(['install_started', 'install_failed'])
    for (const record of await list(caller, { type: AuditType.DEPENDENCY })) expect(record.user).toBe('system')
  })
})

describe('records', () => {
  test('of other services are taken once, and listed with them', async () => {
    const caller = await catalog.team()
    const record = newRecord(caller.principal.team)
    for (const _ of [1, 2]) await records().appendAuditRecords({ records: [record, record] }, serviceContext('storage'))
    const found = await list(caller, { type: AuditType.STORAGE })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({ ...record, time: expect.anything() })
  })

  test('of months that have no partition are kept, of those past retention not', async () => {
    const caller = await catalog.team()
    const { team } = caller.principal
    const dayMs = 86_400_000
    const ages = [-200, 200, 500].map((days) => newRecord(team, Date.now() - days * dayMs))
    await records().appendAuditRecords({ records: ages }, serviceContext('storage'))
    expect((await list(caller, { type: AuditType.STORAGE })).map(({ id }) => id)).toEqual([ages[0]!.id, ages[1]!.id])
  })

  test('are past retention by the clock of the database alone', async () => {
    const caller = await catalog.team()
    const record = newRecord(caller.principal.team)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 * 86_400_000 })
    try {
      await records().appendAuditRecords({ records: [record] }, serviceContext('storage'))
    } finally {
      vi.useRealTimers()
    }
    expect((await list(caller, { type: AuditType.STORAGE })).map(({ id }) => id)).toEqual([record.id])
  })

  test('are filtered by type, entity and an inclusive time, newest first, in pages', async () => {
    const caller = await catalog.team()
    const { team } = caller.principal
    const start = Date.now() - 100_000
    const made = Array.from({ length: 30 }, (_, index) => newRecord(team, start + index * 1000, `o-${index % 3}`))
    await records().appendAuditRecords({ records: made }, serviceContext('storage'))
    const between = { from: timestampFromMs(start + 10_000), to: timestampFromMs(start + 20_000) }
    const found = await list(caller, { ...between, type: AuditType.STORAGE })
    expect(found.map(({ id }) => id)).toEqual(
      made
        .slice(10, 21)
        .map(({ id }) => id)
        .toReversed(),
    )
    expect(timestampMs(found[0]!.time!)).toBe(start + 20_000)
    expect(await list(caller, { entityId: 'o-1', type: AuditType.STORAGE })).toHaveLength(10)
    expect(await list(caller, { entityId: 'o-1', type: AuditType.TEAM })).toEqual([])
    const page = await records().listAuditRecords({ page: { page: 1, limit: 7 }, entityId: 'o-2' }, caller)
    expect(page.page).toMatchObject({ total: 10, hasNextPage: false })
    expect(page.records.map(({ id }) => id)).toEqual([8, 5, 2].map((index) => made[index]!.id))
  })

  test('belong to their team, are read by its members and written by services alone', async () => {
    const [caller, otherTeam] = [await catalog.team(), await catalog.team()]
    const { id } = await catalog.process(caller)
    expect(await list(otherTeam, { entityId: id })).toEqual([])
    expect(await refusal(list(userContext('no-such-team')))).toBe('team_not_found')
    const run = { ...userContext(''), principal: { role: 'run', team: '', subject: 'run', name: 'run' } } as CallContext
    expect(await refusal(list(run))).toBe('permission_denied')
    const record = newRecord(caller.principal.team)
    for (const context of [caller, operatorContext(), run])
      expect(await refusal(records().appendAuditRecords({ records: [record] }, context))).toBe('permission_denied')
    const wrong = { ...record, id: 'x' }
    expect(await refusal(records().appendAuditRecords({ records: [wrong] }, serviceContext('a')))).toBe('/records/0/id')
  })

  test('past retention are dropped by month, and months ahead are counted', async () => {
    const other = await startCatalog({ auditRetentionDays: 1, upkeep: { ...quickUpkeep, auditEveryMs: 20 } })
    try {
      const months = await other.catalog.sql<{ name: string }>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'audit_records'::regclass`,
      )
      expect(months.length).toBeGreaterThanOrEqual(4)
      await other.catalog.sql(`CREATE TABLE audit_records_202001 (LIKE audit_records);
        ALTER TABLE audit_records ATTACH PARTITION audit_records_202001
          FOR VALUES FROM ('016f5e66-e800-0000-0000-000000000000') TO ('016ffe0c-0400-0000-0000-000000000000')`)
      const left = async () =>
        (await other.catalog.sql("SELECT FROM pg_class WHERE relname = 'audit_records_202001'")).length
      await until(async () => (await left()) === 0)
    } finally {
      await other.stop()
    }
  })
})

function newRecord(team: string, timeMs = Date.now(), entityId = 'reports/a.csv') {
  return { id: v7({ msecs: timeMs }), team, type: AuditType.STORAGE, event: 'uploaded', entityId, user: 'Bob' }
}

async function things(caller: CallContext): Promise<{ moduleId: string; variableId: string }> {
  const language = Language.JAVASCRIPT
  const module = await catalog.client(ModuleService).createModule({ name: 'lib', language, sourceCode: '' }, caller)
  await catalog.versions.publishVersion({ module: module.id, tag: 'v1' }, caller)
  const variable = await catalog.variables.createVariable({ key: 'K', value: 'v' }, caller)
  await catalog.variables.updateVariable({ id: variable.id, value: 'w' }, caller)
  await catalog.variables.deleteVariable({ id: variable.id }, caller)
  return { moduleId: module.id, variableId: variable.id }
}
