import type { CallContext } from '@automation/rpc'
import { refusal } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

test('every write that a run could see raises it, and nothing else does', async () => {
  const { caller, id } = await newProcess()
  const steps: Record<string, () => Promise<unknown>> = {
    'create process': () => catalog.process(caller),
    'update process': () => edit(caller, id, 'changed'),
    'publish version': () => catalog.versions.publishVersion({ process: id, tag: 'v' }, caller),
    'create alias': () => catalog.aliases.createAlias({ process: id, name: 'live', version: 'v' }, caller),
    'update alias': async () =>
      catalog.aliases.updateAlias({ process: id, aliasId: await aliasId(), name: 'on' }, caller),
    'delete alias': async () => catalog.aliases.deleteAlias({ process: id, aliasId: await aliasId() }, caller),
    'delete version': () => catalog.versions.deleteVersion({ process: id, version: 'v' }, caller),
    'create variable': () => catalog.variables.createVariable({ key: 'K' }, caller),
    'update variable': async () => catalog.variables.updateVariable({ id: await variableId(), value: 'x' }, caller),
    'delete variable': async () => catalog.variables.deleteVariable({ id: await variableId() }, caller),
    'update team': () => catalog.teams.updateTeam({ values: { name: 'renamed' }, mask: { paths: ['name'] } }, caller),
    'delete process': async () => {
      const { slug } = await catalog.process(caller, { name: 'short-lived' })
      return catalog.processes.deleteProcess({ identifier: slug }, caller)
    },
  }
  const aliasId = async () => (await catalog.aliases.listAliases({ process: id }, caller)).aliases[0]!.id
  const variableId = async () => (await catalog.variables.listVariables({}, caller)).variables[0]!.id
  for (const [step, write] of Object.entries(steps)) {
    const { revision } = await catalog.spec(caller, id)
    expect(await outcome(caller, id, revision), `before ${step}`).toBe('unchanged')
    await write()
    expect(await outcome(caller, id, revision), step).toBe('spec')
  }
  const { revision } = await catalog.spec(caller, id)
  await refusal(catalog.process(caller, { name: '' }))
  await refusal(catalog.versions.deleteVersion({ process: id, version: 'none' }, caller))
  await catalog.processes.listProcesses({}, caller)
  expect(await outcome(caller, id, revision)).toBe('unchanged')
})

test('what was committed before a read is in it: an edit holds for the next run, at once', async () => {
  const { caller, id } = await newProcess()
  let revision = (await catalog.spec(caller, id)).revision
  for (let n = 0; n < 30; n++) {
    await edit(caller, id, `return ${n}`)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => catalog.resolve(caller.principal.team, id, '', revision)),
    )
    for (const {
      outcome: { value },
    } of answers)
      expect(value).toHaveProperty('sourceCode', `return ${n}`)
    revision = (await catalog.spec(caller, id)).revision
  }
})

test('revision and content are of one moment: equal revisions, equal content, however writes and reads mix', async () => {
  const { caller, id } = await newProcess({ sourceCode: '0' })
  const { id: variable } = await catalog.variables.createVariable({ key: 'N', value: '0' }, caller)
  const byRevision = new Map<bigint, Set<string>>()
  let writing = true
  const read = async () => {
    while (writing) {
      const spec = await catalog.spec(caller, id)
      const content = `${spec.sourceCode}/${spec.variables[0]?.value}`
      byRevision.set(spec.revision, (byRevision.get(spec.revision) ?? new Set()).add(content))
    }
  }
  const readers = [read(), read()]
  for (let n = 1; n <= 20; n++)
    await Promise.all([
      edit(caller, id, `${n}`),
      catalog.variables.updateVariable({ id: variable, value: `${n}` }, caller),
    ])
  writing = false
  await Promise.all(readers)
  for (const contents of byRevision.values()) expect(contents.size).toBe(1)
  expect(byRevision.size).toBeGreaterThan(1)
})

test('none comes again with other content where a restore goes back behind some', async () => {
  const { caller, id } = await newProcess({ sourceCode: 'before' })
  const { team } = caller.principal
  const { revision: before } = await catalog.spec(caller, id)
  await edit(caller, id, 'lost')
  const { revision: lost } = await catalog.spec(caller, id)
  await catalog.sql('UPDATE revisions SET revision = $2 WHERE team = $1', [team, String(before)])
  await edit(caller, id, 'after')
  const answer = await catalog.resolve(team, id, '', lost)
  expect(answer.outcome.value).toHaveProperty('sourceCode', 'after')
})

test('each team has its own, also among calls at once', async () => {
  const one = await newProcess()
  const two = await newProcess()
  const { revision: first } = await catalog.spec(one.caller, one.id)
  await edit(two.caller, two.id, 'x')
  await edit(two.caller, two.id, 'y')
  const { revision: second } = await catalog.spec(two.caller, two.id)
  expect(second).not.toBe(first)
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      n % 2 === 0 ? outcome(one.caller, one.id, first) : outcome(two.caller, two.id, second),
    ),
  )
  expect(new Set(outcomes)).toEqual(new Set(['unchanged']))
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

async function outcome(caller: CallContext, identifier: string, revision: bigint) {
  return (await catalog.resolve(caller.principal.team, identifier, '', revision)).outcome.case
}
