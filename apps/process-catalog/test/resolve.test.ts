import { Language } from '@automation/contract/common/v1/language'
import type { CallContext } from '@automation/rpc'
import { operatorContext, serviceContext, userContext, refusal } from '@automation/testing'
import { compare } from 'bcryptjs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

describe('what a run sees', () => {
  test('the current source, the team and the webhook with its hash', async () => {
    const caller = await catalog.team()
    const process = await catalog.process(caller, {
      name: 'Run me',
      language: Language.PYTHON,
      sourceCode: 'return 1',
      webhookEnabled: true,
      webhookUsername: 'u',
      webhookPassword: 'p',
    })
    const spec = await catalog.spec(caller, process.slug)
    expect(spec).toMatchObject({
      team: caller.principal.team,
      timeZone: 'UTC',
      processId: process.id,
      processName: 'Run me',
      processSlug: 'run-me',
      language: Language.PYTHON,
      sourceCode: 'return 1',
      webhook: { enabled: true, username: 'u' },
      variables: [],
    })
    expect(spec).not.toHaveProperty('versionId')
    expect(spec).not.toHaveProperty('enforcedSchema')
    expect(await compare('p', spec.webhook!.passwordHash!)).toBe(true)
    expect(await catalog.spec(caller, process.id)).toEqual(spec)
  })

  test('a version by its id, by its tag and by an alias', async () => {
    const { caller, id } = await newProcess()
    const v1 = await catalog.versions.publishVersion({ process: id, tag: 'v1', sourceCode: 'one' }, caller)
    const v2 = await catalog.versions.publishVersion({ process: id, tag: 'v2', sourceCode: 'two' }, caller)
    const alias = await catalog.aliases.createAlias({ process: id, name: 'live', version: 'v1' }, caller)
    for (const tag of [v1.id, v1.id.toUpperCase(), 'v1', 'live'])
      expect(await catalog.spec(caller, id, tag)).toMatchObject({ versionId: v1.id, sourceCode: 'one' })
    await catalog.aliases.updateAlias({ process: id, aliasId: alias.id, version: 'v2' }, caller)
    expect(await catalog.spec(caller, id, 'live')).toMatchObject({ versionId: v2.id, sourceCode: 'two' })
  })

  test('what is not there is named, and ids are not: those of others are told by nothing from none', async () => {
    const { caller, id } = await newProcess()
    const { team } = caller.principal
    const messageOf = (identifier: string, tag?: string) =>
      catalog.resolve(team, identifier, tag).then(
        () => 'found',
        ({ message }: Error) => message,
      )
    expect(await messageOf('nope')).toBe('Process not found: there is no process "nope"')
    expect(await messageOf(id, 'nope')).toBe('Version not found: the process has no version or alias "nope"')
    const { id: foreign } = await newProcess()
    expect(await messageOf(foreign)).toBe('Process not found')
    expect(await messageOf('0198a2c4-0000-7000-8000-000000000000')).toBe('Process not found')
    await expect(
      catalog.aliases.createAlias({ process: id, name: 'live', version: 'v9' }, caller),
    ).rejects.toMatchObject({ code: 'version_not_found', message: 'Version not found: there is no version "v9"' })
  })

  test('what is not there has its own word', async () => {
    const { caller, id } = await newProcess()
    const { team } = caller.principal
    for (const identifier of ['none', '', '\0', '0198a2c4-0000-7000-8000-000000000000'])
      expect(await refusal(catalog.resolve(team, identifier))).toBe('process_not_found')
    for (const tag of ['none', '\0', ' ', '0198a2c4-0000-7000-8000-000000000000'])
      expect(await refusal(catalog.resolve(team, id, tag))).toBe('version_not_found')
    expect(await refusal(catalog.resolve(team, 'none', 'none'))).toBe('process_not_found')
    const { caller: otherTeam, id: foreign } = await newProcess()
    expect(await refusal(catalog.resolve(team, foreign))).toBe('process_not_found')
    const version = await catalog.versions.publishVersion({ process: foreign, tag: 'v' }, otherTeam)
    expect(await refusal(catalog.resolve(team, id, version.id))).toBe('version_not_found')
  })

  test('the schema with whether the team checks parameters by it, that of the version for a version', async () => {
    const { caller, id } = await newProcess({ parametersSchema: '{"title":"now"}' })
    const bare = await catalog.process(caller)
    await catalog.versions.publishVersion({ process: id, tag: 'v', parametersSchema: '{"title":"then"}' }, caller)
    expect(await catalog.spec(caller, id)).not.toHaveProperty('enforcedSchema')
    expect(await catalog.spec(caller, id)).toHaveProperty('unenforcedSchema', '{"title":"now"}')
    await checkParameters(caller)
    expect(await catalog.spec(caller, id)).toHaveProperty('enforcedSchema', '{"title":"now"}')
    expect(await catalog.spec(caller, id)).not.toHaveProperty('unenforcedSchema')
    expect(await catalog.spec(caller, id, 'v')).toHaveProperty('enforcedSchema', '{"title":"then"}')
    expect(await catalog.spec(caller, bare.id)).not.toHaveProperty('enforcedSchema')
  })

  test('variables that are too large together give runs a fault in words, and none of them', async () => {
    const { caller, id } = await newProcess()
    const value = 'x'.repeat(64 * 1024)
    for (let n = 0; n < 150; n++) await catalog.variables.createVariable({ key: `V${n}`, value }, caller)
    expect((await catalog.spec(caller, id)).variables).toHaveLength(150)
    for (let n = 150; n < 161; n++) await catalog.variables.createVariable({ key: `V${n}`, value }, caller)
    const spec = await catalog.spec(caller, id)
    expect(spec.variablesFault).toBe('The variables of the team are larger than 10485760 bytes together')
    expect(spec.variables).toEqual([])
    // Who does not know of the fault gets nothing that it could run.
    const unknowing = { team: caller.principal.team, identifier: id, tag: '', knownRevision: 0n }
    await expect(catalog.resolver.resolveRun(unknowing, serviceContext('execution'))).rejects.toMatchObject({
      kind: 'too_large',
      code: 'run_too_large',
      message: spec.variablesFault,
    })
  })

  test('so do very many, however small', async () => {
    const { caller, id } = await newProcess()
    await catalog.variables.createVariable({ key: 'V' }, caller)
    await catalog.withoutTriggers(
      'variables',
      `INSERT INTO variables (id, team, key, ciphertext, key_id, is_sensitive, created_by, created_at)
       SELECT gen_random_uuid(), team, key || n, ciphertext, key_id, true, created_by, created_at
       FROM variables, generate_series(1, 10000) n WHERE team = $1`,
      [caller.principal.team],
    )
    expect(await catalog.spec(caller, id)).toMatchObject({
      variablesFault: 'The run sees more than 10000 variables',
      variables: [],
    })
  })

  test('equal digests exactly for the same source of the same version', async () => {
    const { caller, id } = await newProcess({ sourceCode: 'a' })
    const first = await catalog.spec(caller, id)
    await catalog.variables.createVariable({ key: 'UNRELATED' }, caller)
    expect((await catalog.spec(caller, id)).digest).toBe(first.digest)
    await catalog.versions.publishVersion({ process: id, tag: 'v' }, caller)
    const twin = await catalog.process(caller, { sourceCode: 'a' })
    const digests = [
      first.digest,
      (await catalog.spec(caller, id, 'v')).digest,
      (await catalog.spec(caller, twin.id)).digest,
    ]
    await edit(caller, id, 'b')
    digests.push((await catalog.spec(caller, id)).digest)
    expect(new Set(digests).size).toBe(4)
    expect(first.digest).toMatch(/^[0-9a-f]{64}$/)
  })
})

test('services may resolve for any team, users for their own, nobody else', async () => {
  const { caller, id } = await newProcess()
  const { team } = caller.principal
  const request = { team, identifier: id, tag: '', knownRevision: 0n }
  expect((await catalog.resolver.resolveRun(request, serviceContext('execution'))).outcome.case).toBe('spec')
  expect((await catalog.resolver.resolveRun(request, caller)).outcome.case).toBe('spec')
  for (const context of [
    userContext('another'),
    operatorContext(),
    userContext(team, { role: 'run' }),
    userContext(team, { role: 'runner' }),
  ])
    expect(await refusal(catalog.resolver.resolveRun(request, context))).toBe('permission_denied')
})

async function newProcess(values: object = {}): Promise<{ caller: CallContext; id: string }> {
  const caller = await catalog.team()
  return { caller, id: (await catalog.process(caller, values)).id }
}

function edit(caller: CallContext, identifier: string, sourceCode: string) {
  return catalog.processes.updateProcess(
    { identifier, values: { sourceCode }, mask: { paths: ['source_code'] } },
    caller,
  )
}

function checkParameters(caller: CallContext) {
  const values = { paramsSchemaValidationEnabled: true }
  return catalog.teams.updateTeam({ values, mask: { paths: ['params_schema_validation_enabled'] } }, caller)
}
