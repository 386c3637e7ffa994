import type { CallContext } from '@automation/rpc'
import { operatorContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const operator = operatorContext(600_000)

test("a team's own come first, then its parents' by slug, each only where it is named and granted", async () => {
  const child = await catalog.team('kid')
  const [b, a, other] = await Promise.all(['par-b', 'par-a', 'par-other'].map((slug) => catalog.team(slug)))
  const { id } = await catalog.process(child)
  await variables(child, { OWN: 'kid' })
  await variables(b!, { OWN: 'b', BOTH: 'b', ONLY_B: 'b' })
  await variables(a!, { OWN: 'a', BOTH: 'a' })
  await variables(other!, { OTHER: 'other' })
  await name('kid', 'par-a', 'par-b', 'par-other')
  expect(await seen(child, id)).toEqual({ OWN: 'kid' })
  await catalog.teams.grantParent({ child: 'kid', parent: 'par-b' }, operator)
  expect(await seen(child, id)).toEqual({ OWN: 'kid', BOTH: 'b', ONLY_B: 'b' })
  await catalog.teams.grantParent({ child: 'kid', parent: 'par-a' }, operator)
  expect(await seen(child, id)).toEqual({ OWN: 'kid', BOTH: 'a', ONLY_B: 'b' })
  await catalog.teams.revokeParent({ child: 'kid', parent: 'par-a' }, operator)
  expect(await seen(child, id)).toEqual({ OWN: 'kid', BOTH: 'b', ONLY_B: 'b' })
})

test('a grant alone, without being named as a parent, gives nothing; grandparents give nothing', async () => {
  const [c, p, g] = await Promise.all(['gen-c', 'gen-p', 'gen-g'].map((slug) => catalog.team(slug)))
  const { id } = await catalog.process(c!)
  await variables(p!, { P: 'p' })
  await variables(g!, { G: 'g' })
  await catalog.teams.grantParent({ child: 'gen-c', parent: 'gen-p' }, operator)
  await catalog.teams.grantParent({ child: 'gen-p', parent: 'gen-g' }, operator)
  expect(await seen(c!, id)).toEqual({})
  await name('gen-c', 'gen-p')
  await name('gen-p', 'gen-g')
  expect(await seen(c!, id)).toEqual({ P: 'p' })
})

test("a parent's write and a revoked grant raise the child's revision; a stranger's write does not", async () => {
  const [c, p, s] = await Promise.all(['rev-c', 'rev-p', 'rev-s'].map((slug) => catalog.team(slug)))
  const { id } = await catalog.process(c!)
  await name('rev-c', 'rev-p')
  await catalog.teams.grantParent({ child: 'rev-c', parent: 'rev-p' }, operator)
  const { revision } = await catalog.spec(c!, id)
  await variables(s!, { S: 's' })
  expect(await outcome(c!, id, revision)).toBe('unchanged')
  await variables(p!, { P: 'p' })
  expect(await outcome(c!, id, revision)).toBe('spec')
  const { revision: second } = await catalog.spec(c!, id)
  await catalog.teams.revokeParent({ child: 'rev-c', parent: 'rev-p' }, operator)
  expect(await outcome(c!, id, second)).toBe('spec')
})

async function variables(caller: CallContext, values: Record<string, string>): Promise<void> {
  for (const [key, value] of Object.entries(values)) await catalog.variables.createVariable({ key, value }, caller)
}

async function seen(caller: CallContext, identifier: string): Promise<Record<string, string>> {
  const spec = await catalog.spec(caller, identifier)
  return Object.fromEntries(spec.variables.map(({ key, value }) => [key, value]))
}

async function outcome(caller: CallContext, identifier: string, revision: bigint) {
  return (await catalog.resolve(caller.principal.team, identifier, '', revision)).outcome.case
}

/** Parents can't be named through the service yet. */
async function name(child: string, ...parents: string[]): Promise<void> {
  await catalog.sql('INSERT INTO team_parents (child, parent) SELECT $1, unnest($2::text[])', [child, parents])
}
