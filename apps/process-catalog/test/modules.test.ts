import { Language } from '@automation/contract/common/v1/language'
import { ModuleService } from '@automation/contract/catalog/v1/module'
import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import type { CallContext } from '@automation/rpc'
import { operatorContext, refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const modules = () => catalog.client(ModuleService)
const make = (caller: CallContext, name: string, sourceCode = '', language = Language.JAVASCRIPT) =>
  modules().createModule({ name, sourceCode, language }, caller)

describe('modules', () => {
  test('a name is unique in the team and the language, without blanks, and may have dots and dashes', async () => {
    const caller = await catalog.team()
    const made = await make(caller, 'my-lib.v2', 'exports.a = 1')
    expect(made).toMatchObject({ name: 'my-lib.v2', language: Language.JAVASCRIPT, sourceCode: 'exports.a = 1' })
    expect(await refusal(make(caller, 'my-lib.v2'))).toBe('/name')
    await make(caller, 'my-lib.v2', '', Language.PYTHON)
    for (const name of ['', 'a b', '.a', 'a/b', 'a\n', 'x'.repeat(256)])
      expect(await refusal(make(caller, name)), name).toBe('/name')
    expect(await refusal(modules().updateModule({ id: (await make(caller, 'b')).id, name: 'my-lib.v2' }, caller))).toBe(
      '/name',
    )
  })

  test('is found in its team alone', async () => {
    const [caller, otherTeam] = [await catalog.team(), await catalog.team()]
    const { id } = await make(caller, 'lib')
    for (const call of [
      () => modules().getModule({ id }, otherTeam),
      () => modules().updateModule({ id, sourceCode: '' }, otherTeam),
      () => modules().deleteModule({ id }, otherTeam),
      () => catalog.versions.publishVersion({ module: id, tag: 'v' }, otherTeam),
      () => catalog.aliases.listAliases({ module: id }, otherTeam),
      () => modules().getModule({ id: 'lib' }, caller),
    ])
      expect(await refusal(call())).toBe('module_not_found')
    expect((await modules().listModules({}, otherTeam)).modules).toEqual([])
    expect((await modules().listModules({}, caller)).modules.map(({ name }) => name)).toEqual(['lib'])
  })

  test('versions and aliases follow the rules of those of processes, and go with the module', async () => {
    const caller = await catalog.team()
    const { id: module } = await make(caller, 'lib', 'one')
    const version = await catalog.versions.publishVersion({ module, tag: 'v1', comment: 'c' }, caller)
    expect(version).toMatchObject({ tag: 'v1', sourceCode: 'one', comment: 'c', language: Language.JAVASCRIPT })
    expect(await refusal(catalog.versions.publishVersion({ module, tag: 'v1' }, caller))).toBe('/tag')
    const alias = await catalog.aliases.createAlias({ module, name: 'live', version: 'v1' }, caller)
    expect(await catalog.aliases.getAlias({ module, aliasId: alias.id }, caller)).toEqual(alias)
    expect(await refusal(catalog.versions.deleteVersion({ module, version: 'v1' }, caller))).toBe('/versionId')
    await modules().deleteModule({ id: module }, caller)
    expect(await refusal(catalog.versions.getVersion({ module, version: 'v1' }, caller))).toBe('module_not_found')
    expect(await catalog.sql('SELECT FROM versions WHERE process_id = $1', [module])).toEqual([])
  })
})

describe('what a run gets of them', () => {
  test('what its source imports by name, and what that imports, each once', async () => {
    const caller = await catalog.team()
    await make(caller, 'deep', 'exports.d = 1')
    await make(caller, 'lib', "exports.d = require('deep').d; require('round')")
    await make(caller, 'round', "import x from 'lib'; export default 1")
    await make(caller, 'unrelated')
    const { id } = await catalog.process(caller, {
      sourceCode:
        "import l from 'lib'\nconst d = await import('deep') // require('unrelated')\nreturn \"require('unrelated')\"",
    })
    expect(tree(await catalog.spec(caller, id))).toEqual({ lib: { deep: {}, round: { lib: '…' } }, deep: {} })
  })

  test('a tag, an alias or a version id pins a version; without, the current source counts', async () => {
    const caller = await catalog.team()
    const { id: module } = await make(caller, 'lib', 'one')
    const v1 = await catalog.versions.publishVersion({ module, tag: 'v1' }, caller)
    await catalog.aliases.createAlias({ module, name: 'live', version: 'v1' }, caller)
    await modules().updateModule({ id: module, sourceCode: 'two' }, caller)
    const source = `svc.import('lib'); svc.import('lib', 'v1'); svc.import('lib', "live"); svc.import('lib', '${v1.id}'); svc.import('lib', 'none')`
    const { id } = await catalog.process(caller, { sourceCode: source })
    const spec = await catalog.spec(caller, id)
    const seen = spec.imports.map(({ tag, module: at }) => {
      const { sourceCode, tag: ofVersion, versionId } = spec.modules[at]!
      return [tag, [sourceCode, ofVersion, versionId]] as const
    })
    expect(new Map(seen)).toEqual(
      new Map([
        ['', ['two', undefined, undefined]],
        ['v1', ['one', 'v1', v1.id]],
        ['live', ['one', 'v1', v1.id]],
        [v1.id, ['one', 'v1', v1.id]],
      ]),
    )
  })

  test('of an import that leads nowhere: names that come near, or the versions that there are; nothing of packages', async () => {
    const caller = await catalog.team()
    const { id: module } = await make(caller, 'pricing', 'one')
    await catalog.versions.publishVersion({ module, tag: 'v1' }, caller)
    await catalog.versions.publishVersion({ module, tag: 'v2' }, caller)
    await catalog.aliases.createAlias({ module, name: 'live', version: 'v1' }, caller)
    await make(caller, 'unpublished', '')
    await make(caller, 'prices', '', Language.PYTHON)
    await make(await catalog.team(), 'pricin2')
    const { id } = await catalog.process(caller, {
      sourceCode:
        "require('prcing'); svc.import('pricing', 'v9'); svc.import('pricing', 'v1'); svc.import('unpublished', 'v7'); require('lodash')",
    })
    const { unmetImports } = await catalog.spec(caller, id)
    expect(
      unmetImports.map(({ name, tag, near, versions, hasNoVersions }) => [name, tag, near, versions, hasNoVersions]),
    ).toEqual([
      ['prcing', '', ['pricing'], [], false],
      ['pricing', 'v9', [], ['live', 'v2', 'v1'], false],
      ['unpublished', 'v7', [], [], true],
    ])
  })

  test('names that come near are told of a few imports alone, and not of long names', async () => {
    const caller = await catalog.team()
    const long = 'a'.repeat(41)
    for (const name of ['pricing', long]) await make(caller, name, '', Language.PYTHON)
    const nearOf = async (sourceCode: string) => {
      const { id } = await catalog.process(caller, { language: Language.PYTHON, sourceCode })
      return (await catalog.spec(caller, id)).unmetImports.map(({ name }) => name)
    }
    const packages = (most: number) => Array.from({ length: most }, (_, n) => `import package${n}`).join('\n')
    const ofPython = 'import os, sys, json, re, time, math, csv, io, ast, base64, copy'
    expect(await nearOf(`${ofPython}\n${packages(9)}\nimport prcing`)).toEqual(['prcing'])
    expect(await nearOf(`${packages(10)}\nimport prcing`)).toEqual([])
    expect(await nearOf(`import ${long}a, ${long.slice(1)}`)).toEqual([])
  })

  test('another source of a module is another digest, for the next run', async () => {
    const caller = await catalog.team()
    const { id: module } = await make(caller, 'lib', 'one')
    const { id } = await catalog.process(caller, { sourceCode: "require('lib')" })
    const before = await catalog.spec(caller, id)
    await modules().updateModule({ id: module, sourceCode: 'two' }, caller)
    const after = await catalog.spec(caller, id)
    expect(after.digest).not.toBe(before.digest)
    expect(after.revision).toBeGreaterThan(before.revision)
  })

  test('Python finds dotted names, and only what is Python', async () => {
    const caller = await catalog.team()
    for (const name of ['util', 'shapes.circle', 'later']) await make(caller, name, '', Language.PYTHON)
    await make(caller, 'json2')
    const { id } = await catalog.process(caller, {
      language: Language.PYTHON,
      sourceCode: `import os, util as u\nfrom shapes import (circle,\n  square)\n"import later"\n# import later\nimport json2`,
    })
    expect(Object.keys(tree(await catalog.spec(caller, id))).toSorted()).toEqual(['shapes.circle', 'util'])
  })

  test('sources that are too large together give runs a fault in words, and no modules', async () => {
    const caller = await catalog.team()
    for (const name of ['a', 'b']) await make(caller, name, ` ${'x'.repeat(6 * 1024 * 1024)}`)
    const { id } = await catalog.process(caller, { sourceCode: "require('a'); require('b')" })
    const spec = await catalog.spec(caller, id)
    expect(spec.modulesFault).toContain('larger than')
    expect(spec.modules).toEqual([])
  })
})

describe('inherited modules', () => {
  test("a team's own come first; those of a parent find their own team's first; a revoked grant ends it", async () => {
    const [child, parent] = [await catalog.team(), await catalog.team()]
    const pair = { child: child.principal.team, parent: parent.principal.team }
    await make(parent, 'lib', "require('util')")
    await make(parent, 'util', 'of the parent')
    await make(child, 'util', 'own')
    const { id } = await catalog.process(child, { sourceCode: "require('lib'); require('util')" })
    await catalog.teams.grantParent(pair, operatorContext())
    await nameParents(child, [pair.parent])
    const spec = await catalog.spec(child, id)
    const sourceOf = (at: number) => spec.modules[at]!.sourceCode
    const of = (name: string) => spec.modules[spec.imports.find((each) => each.name === name)!.module]!
    expect(of('util').sourceCode).toBe('own')
    expect(of('lib').team).toBe(pair.parent)
    expect(sourceOf(of('lib').imports[0]!.module)).toBe('of the parent')
    await catalog.teams.revokeParent(pair, operatorContext())
    expect(tree(await catalog.spec(child, id))).toEqual({ util: {} })
  })
})

describe('a module that is in use', () => {
  test('can be changed, but neither renamed nor deleted, and the refusal names who imports it', async () => {
    const caller = await catalog.team()
    const lib = await make(caller, 'lib')
    await make(caller, 'other', "require('lib')")
    const users = [1, 2, 3, 4, 5].map((n) => catalog.process(caller, { name: `p${n}`, sourceCode: "import 'lib'" }))
    const [first] = await Promise.all(users)
    await catalog.process(caller, { name: 'quiet', sourceCode: '// require("lib")\nreturn "require(\'lib\')"' })
    await modules().updateModule({ id: lib.id, sourceCode: 'require("lib")', name: 'lib' }, caller)
    const renaming = modules().updateModule({ id: lib.id, name: 'bil' }, caller)
    await expect(renaming).rejects.toMatchObject({
      code: 'module_in_use',
      message: 'The module lib is imported by module other, process p1, process p2, process p3, process p4, 1 more',
    })
    await catalog.versions.publishVersion({ process: first!.id, tag: 'v' }, caller)
    for (const { slug } of await Promise.all(users))
      await catalog.processes.updateProcess(
        { identifier: slug, values: { sourceCode: '' }, mask: { paths: ['source_code'] } },
        caller,
      )
    await expect(modules().deleteModule({ id: lib.id }, caller)).rejects.toMatchObject({
      message: 'The module lib is imported by module other, version v of process p1',
    })
  })

  test('by another team is only counted, and not where that has one of its own', async () => {
    const [parent, child, own] = [await catalog.team(), await catalog.team(), await catalog.team()]
    const lib = await make(parent, 'lib')
    for (const team of [child, own]) {
      const pair = { child: team.principal.team, parent: parent.principal.team }
      await catalog.teams.grantParent(pair, operatorContext())
      await nameParents(team, [pair.parent])
      await catalog.process(team, { sourceCode: "svc.import('lib', 'v1')" })
    }
    await make(own, 'lib')
    await expect(modules().deleteModule({ id: lib.id }, parent)).rejects.toMatchObject({
      message: 'The module lib is imported by 1 in other teams',
    })
  })
})

function nameParents(caller: CallContext, parentTeamSlugs: string[], tokenTeams: string[] = []) {
  const values = { parentTeamSlugs }
  return catalog.teams.updateTeam({ values, mask: { paths: ['parent_team_slugs'] }, tokenTeams }, caller)
}

type Tree = { [name: string]: Tree | '…' }

/** What imports what, by name; a circle ends with `…`. */
function tree({ imports, modules: all }: RunSpec): Tree {
  const of = (some: RunSpec['imports'], above: number[]): Tree =>
    Object.fromEntries(
      some.map(({ name, module }) => [
        name,
        above.includes(module) ? '…' : of(all[module]!.imports, [...above, module]),
      ]),
    )
  return of(imports, [])
}
