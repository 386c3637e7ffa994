import { ModuleService } from '@automation/contract/catalog/v1/module'
import type { CallContext } from '@automation/rpc'
import { refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CatalogUnderTest, startCatalog } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const fresh = async (caller: CallContext, id: string) =>
  (await catalog.processes.getProcess({ identifier: id }, caller)).etag

describe('the entity tag of a record', () => {
  test('of two edits of the same state exactly one is made, whatever is edited', async () => {
    const caller = await catalog.team()
    const process = await catalog.process(caller)
    const modules = catalog.client(ModuleService)
    const module = await modules.createModule({ name: 'shouting', sourceCode: '' }, caller)
    const variable = await catalog.variables.createVariable({ key: 'K', value: 'v', isSensitive: true }, caller)
    const team = await catalog.teams.getTeam({}, caller)
    await catalog.versions.publishVersion({ process: process.id, tag: 'v1' }, caller)
    const alias = await catalog.aliases.createAlias({ process: process.id, name: 'live', version: 'v1' }, caller)
    const owned = { process: process.id, aliasId: alias.id, ifMatch: [alias.etag] }
    const edits: ((nth: number) => Promise<{ etag: string }>)[] = [
      (nth) =>
        catalog.processes.updateProcess(
          { identifier: process.id, values: { name: `n${nth}` }, mask: { paths: ['name'] }, ifMatch: [process.etag] },
          caller,
        ),
      (nth) => modules.updateModule({ id: module.id, sourceCode: `${nth}`, ifMatch: [module.etag] }, caller),
      (nth) =>
        catalog.variables.updateVariable({ id: variable.id, value: `v${nth}`, ifMatch: [variable.etag] }, caller),
      (nth) => catalog.aliases.updateAlias({ ...owned, name: `n${nth}` }, caller),
      (nth) =>
        catalog.teams.updateTeam(
          { values: { name: `n${nth}` }, mask: { paths: ['name'] }, ifMatch: [team.etag] },
          caller,
        ),
    ]
    for (const edit of edits) {
      const results = await Promise.allSettled([1, 2, 3].map((nth) => edit(nth)))
      const made = results.filter((each) => each.status === 'fulfilled')
      const late = results.filter((each) => each.status === 'rejected')
      expect(made).toHaveLength(1)
      for (const { reason } of late)
        expect(reason).toMatchObject({
          code: 'changed_meanwhile',
          present: { etag: made[0]?.value.etag, updatedBy: 'tester', updatedAt: expect.stringMatching(/Z$/) },
        })
    }
  })

  test('what changes without an edit leaves it as it is', async () => {
    const caller = await catalog.team()
    const { id, etag } = await catalog.process(caller)
    await catalog.sql(`UPDATE processes SET awaited_dependencies = '["ms"]', dependencies_error = 'x' WHERE id = $1`, [
      id,
    ])
    await catalog.versions.publishVersion({ process: id, tag: 'v1' }, caller)
    expect(await fresh(caller, id)).toBe(etag)
  })

  test('an edit by a release that knows nothing of it gives another one', async () => {
    const caller = await catalog.team()
    const { id, etag } = await catalog.process(caller)
    await catalog.sql(`UPDATE processes SET source_code = 'return 2', updated_at = updated_at WHERE id = $1`, [id])
    expect(await fresh(caller, id)).not.toBe(etag)
  })

  test('a delete asks for it as well; what took its place under the same slug is another state', async () => {
    const caller = await catalog.team()
    const first = await catalog.process(caller, { slug: 'same' })
    const remove = (ifMatch: string[]) => catalog.processes.deleteProcess({ identifier: 'same', ifMatch }, caller)
    expect(await refusal(remove(['"other"', `W/${first.etag}`]))).toBe('changed_meanwhile')
    await remove(['"other"', first.etag])
    await catalog.process(caller, { slug: 'same' })
    expect(await refusal(remove([first.etag]))).toBe('changed_meanwhile')
  })
})

describe('what is said of an edit', () => {
  const listed = async (caller: CallContext) =>
    (await catalog.processes.listProcesses({ page: { limit: 100 } }, caller)).processes

  test('a release that knows nothing of it leaves no digest and no origin of another edit', async () => {
    const caller = await catalog.team()
    const origin = { commit: 'abc' }
    const same = await catalog.process(caller, { slug: 'same', sourceCode: 'return 2' })
    const made = await catalog.process(caller, { slug: 'other', sourceCode: 'return 1', origin })
    expect(made).toMatchObject({ revision: 1, origin })
    await catalog.sql(
      `UPDATE processes SET slug = CASE id WHEN $1 THEN 'gone' ELSE 'same' END, source_code = 'return 2', updated_at = now()
       WHERE team = $2`,
      [same.id, caller.principal.team],
    )
    const read = await catalog.processes.getProcess({ identifier: made.id }, caller)
    expect(read).toMatchObject({ revision: 2, sourceDigest: same.sourceDigest })
    expect(read.origin).toBeUndefined()
    expect((await listed(caller))[0]).toMatchObject({ id: made.id, revision: 2, sourceDigest: same.sourceDigest })
  })

  test('rows that an older release has left are described without being edited, but for one that is broken', async () => {
    const caller = await catalog.team()
    const made: Awaited<ReturnType<typeof catalog.process>>[] = []
    for (let nth = 0; nth < 120; nth += 1) made.push(await catalog.process(caller, { readme: `${nth}` }))
    const modules = catalog.client(ModuleService)
    const module = await modules.createModule({ name: 'old', sourceCode: 'a' }, caller)
    for (const table of ['processes', 'modules'])
      await catalog.sql(`UPDATE ${table} SET source_digest = NULL, described_revision = NULL`)
    expect(new Set((await listed(caller)).map((each) => each.sourceDigest)).size).toBe(100)
    const broken = made.pop()!
    await catalog.sql(`UPDATE processes SET parameters_schema = '{' WHERE id = $1`, [broken.id])
    const next = new CatalogUnderTest(catalog.url)
    await next.part.start()
    const kept = () =>
      catalog.sql<{ id: string; source_digest: string | null }>(
        'SELECT id, source_digest FROM processes WHERE team = $1 UNION SELECT id, source_digest FROM modules WHERE team = $1',
        [caller.principal.team],
      )
    const digests = new Map<string, string | null>([...made, module].map(({ id, sourceDigest }) => [id, sourceDigest]))
    digests.set(broken.id, null)
    await expect
      .poll(async () => new Map((await kept()).map((row) => [row.id, row.source_digest])), { timeout: 30_000 })
      .toEqual(digests)
    await next.part.stop(0)
    const read = await catalog.processes.getProcess({ identifier: broken.id }, caller)
    expect([read.revision, read.sourceDigest]).toEqual([1, ''])
    expect(await fresh(caller, made[0]!.id)).toBe(made[0]!.etag)
  })

  test('a schema that is nested ever so deep has a digest', async () => {
    const parametersSchema = `{"default":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const caller = await catalog.team()
    const { id, sourceDigest } = await catalog.process(caller, { parametersSchema })
    expect((await catalog.processes.getProcess({ identifier: id }, caller)).sourceDigest).toBe(sourceDigest)
    expect(sourceDigest).toMatch(/^[0-9a-f]{64}$/)
  })

  test.each([
    ['https://gitlab-ci-token:glcbt-1@git.example/a.git', 'https://git.example/a.git'],
    ['https://ghs_1@git.example/a.git', 'https://git.example/a.git'],
    ['https://a@b:c@git.example/a@1', 'https://git.example/a@1'],
    ['ssh://git:pw@git.example/a.git', 'ssh://git@git.example/a.git'],
    ['git@git.example:team/a.git', 'git@git.example:team/a.git'],
    ['oauth2:glpat-1@git.example/a.git', 'oauth2@git.example/a.git'],
    ['https://git.example/@scope/a', 'https://git.example/@scope/a'],
  ])('the repository %s is shown as %s', async (repository, shown) => {
    const made = await catalog.process(await catalog.team(), { origin: { repository } })
    expect(made.origin?.repository).toBe(shown)
  })
})
