import type { CallContext } from '@automation/rpc'
import { operatorContext, refusal } from '@automation/testing'
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
  expect(await seen(child, id)).toEqual({ OWN: 'kid' })
  await catalog.teams.grantParent({ child: 'kid', parent: 'par-b' }, operator)
  await name(child, ['par-b'])
  expect(await seen(child, id)).toEqual({ OWN: 'kid', BOTH: 'b', ONLY_B: 'b' })
  await catalog.teams.grantParent({ child: 'kid', parent: 'par-a' }, operator)
  await name(child, ['par-b', 'par-a'])
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
  await name(c!, ['gen-p'])
  await name(p!, ['gen-g'])
  expect(await seen(c!, id)).toEqual({ P: 'p' })
})

test('a message is signed with the value that runs see, and the value is told to nobody', async () => {
  const [child, parent] = await Promise.all(['sig-kid', 'sig-par'].map((slug) => catalog.team(slug)))
  await catalog.teams.grantParent({ child: 'sig-kid', parent: 'sig-par' }, operator)
  await name(child!, ['sig-par'])
  await variables(parent!, { OWN: 'parent', INHERITED: "It's a Secret to Everybody" })
  await catalog.variables.createVariable({ key: 'OWN', value: 'Jefe', isSensitive: true }, child!)
  await variables(child!, { EMPTY: '' })
  const signed = async (key: string, message: string, by = child!) => {
    const { hmac } = await catalog.variables.signWithVariable({ key, message: Buffer.from(message) }, by)
    return Buffer.from(hmac).toString('hex')
  }
  // Of RFC 4231, and of GitHub's documentation.
  expect(await signed('OWN', 'what do ya want for nothing?')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
  expect(await signed('INHERITED', 'Hello, World!')).toBe(
    '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  )
  for (const key of ['EMPTY', 'ABSENT', 'no key', '']) expect(await refusal(signed(key, ''))).toBe('/key')
  expect(await refusal(signed('EMPTY', '', parent!))).toBe('/key')
})

test("a parent's write and a revoked grant raise the child's revision; another team's write does not", async () => {
  const [c, p, s] = await Promise.all(['rev-c', 'rev-p', 'rev-s'].map((slug) => catalog.team(slug)))
  const { id } = await catalog.process(c!)
  await catalog.teams.grantParent({ child: 'rev-c', parent: 'rev-p' }, operator)
  await name(c!, ['rev-p'])
  const { revision } = await catalog.spec(c!, id)
  await variables(s!, { S: 's' })
  expect(await outcome(c!, id, revision)).toBe('unchanged')
  await variables(p!, { P: 'p' })
  expect(await outcome(c!, id, revision)).toBe('spec')
  const { revision: second } = await catalog.spec(c!, id)
  await catalog.teams.revokeParent({ child: 'rev-c', parent: 'rev-p' }, operator)
  expect(await outcome(c!, id, second)).toBe('spec')
})

test('a parent needs a grant or a token that names it; other teams and none at all are refused alike', async () => {
  const [c, p] = await Promise.all(['own-c', 'own-p'].map((slug) => catalog.team(slug)))
  const { id } = await catalog.process(c!)
  await variables(p!, { P: 'p' })
  const texts = await Promise.all(
    ['own-p', 'own-x'].map((slug) => message(name(c!, [slug])).then((text) => text.replace(slug, ''))),
  )
  expect(texts[0]).toBe(texts[1])
  expect((await name(c!, ['own-p'], ['own-c', 'own-p'])).parentTeamSlugs).toEqual(['own-p'])
  expect(await seen(c!, id)).toEqual({ P: 'p' })
  // Whoever names it again needs no right of their own.
  await name(c!, ['own-p'])
  await catalog.teams.revokeParent({ child: 'own-c', parent: 'own-p' }, operator)
  expect(await seen(c!, id)).toEqual({})
  expect(await refusal(name(c!, ['own-p']))).toBe('/parentTeamSlugs')
  expect((await name(c!, [])).parentTeamSlugs).toEqual([])
})

test('access that is ended takes along what tokens have given: a grant stays, others name the parent again', async () => {
  const [parent, named, granted] = await Promise.all(['end-par', 'end-a', 'end-b'].map((slug) => catalog.team(slug)))
  await variables(parent!, { P: 'p' })
  const { id } = await catalog.process(named!)
  const { id: other } = await catalog.process(granted!)
  await catalog.teams.grantParent({ child: 'end-b', parent: 'end-par' }, operator)
  for (const child of [named!, granted!]) await name(child, ['end-par'], ['end-par'])
  const { revision } = await catalog.spec(named!, id)
  expect(await seen(named!, id)).toEqual({ P: 'p' })
  await catalog.tokens.endTeamAccess({ team: 'end-par' }, operator)
  expect(await seen(named!, id)).toEqual({})
  expect(await outcome(named!, id, revision)).toBe('spec')
  expect(await seen(granted!, other)).toEqual({ P: 'p' })
  expect(await refusal(name(named!, ['end-par']))).toBe('/parentTeamSlugs')
  await name(named!, ['end-par'], ['end-par'])
  expect(await seen(named!, id)).toEqual({ P: 'p' })
})

test('no team is its own parent, also by way of others, and five are the most', async () => {
  const slugs = ['cyc-a', 'cyc-b', 'cyc-c', 'cyc-d', 'cyc-e', 'cyc-f', 'cyc-g']
  const [a, b, c] = await Promise.all(slugs.map((slug) => catalog.team(slug)))
  await name(a!, ['cyc-b'], slugs)
  await name(b!, ['cyc-c'], slugs)
  for (const parents of [['cyc-a'], ['cyc-c'], ['cyc-b'], slugs.filter((slug) => slug !== 'cyc-c')])
    expect(await refusal(name(c!, parents, slugs)), parents.join()).toBe('/parentTeamSlugs')
  expect((await name(c!, slugs.slice(3), slugs)).parentTeamSlugs).toEqual(slugs.slice(3))
})

async function message(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => '',
    (error: unknown) => (error instanceof Error ? error.message : ''),
  )
}

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

/** By right of the caller's token, unless the operator has granted it; `tokenTeams` names none then. */
async function name(child: CallContext, parentTeamSlugs: string[], tokenTeams: string[] = []) {
  const values = { parentTeamSlugs }
  return catalog.teams.updateTeam({ values, mask: { paths: ['parent_team_slugs'] }, tokenTeams }, child)
}
