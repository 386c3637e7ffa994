import { ModuleService } from '@automation/contract/catalog/v1/module'
import { ImportKind, SourceService } from '@automation/contract/catalog/v1/source'
import { Language } from '@automation/contract/common/v1/language'
import type { CallContext } from '@automation/rpc'
import { operatorContext, until, refusal } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'
import { foundImports } from '../src/dependencies/found-imports.ts'
import { emptyReading } from '../src/reading/reading.ts'
import { manifestsOf, succeed } from './manifests.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const { JAVASCRIPT, PYTHON } = Language
const { stage, read, install, running } = manifestsOf(() => catalog)

const check = (caller: CallContext, language: Language, sourceCode: string) =>
  catalog.client(SourceService).checkSource({ language, sourceCode }, caller)

/** Each import with what it leads to. */
async function imports(caller: CallContext, language: Language, sourceCode: string): Promise<string[]> {
  const { imports: found } = await check(caller, language, sourceCode)
  return found.map(({ name, kind, version }) => [name, ImportKind[kind], ...(version ? [version] : [])].join(' '))
}

test('a check says where the syntax is broken, and nothing of what is right', async () => {
  const caller = await catalog.team()
  const broken = await check(caller, JAVASCRIPT, 'const a = 1\nreturn a +')
  expect(broken.faults).toMatchObject([{ message: 'Unexpected token', line: 2, column: 11 }])
  expect((await check(caller, PYTHON, 'def a(:\n  pass')).faults).toMatchObject([{ line: 1, column: 7 }])
  // What Python finds when it compiles, and nothing of what a process may have at its top.
  expect((await check(caller, PYTHON, 'x = 1\nbreak')).faults).toMatchObject([
    { message: "'break' outside loop", line: 2 },
  ])
  expect((await check(caller, PYTHON, 'def f(a, a):\n  return a')).faults).toMatchObject([{ line: 1 }])
  expect((await check(caller, PYTHON, 'class A:\n  return 1')).faults).toMatchObject([{ line: 2 }])
  expect((await check(caller, PYTHON, 'import asyncio\nawait asyncio.sleep(0)')).faults).toMatchObject([{ line: 2 }])
  const allowed = 'from os import *\nx: int = 1\nfor y in [x]:\n  if y:\n    return y\nmatch x:\n  case 2:\n    return'
  expect((await check(caller, PYTHON, allowed)).faults).toEqual([])
  for (const language of [JAVASCRIPT, PYTHON])
    for (const source of ['', 'return 1']) expect((await check(caller, language, source)).faults).toEqual([])
  expect(await refusal(check(caller, JAVASCRIPT, 'return 1\0'))).toBe('/sourceCode')
})

test('a check says of each import what a run of the team finds: builtins, modules of the team and its parents, packages, or nothing', async () => {
  const parent = await catalog.team()
  const caller = await catalog.team()
  const [child, from] = [caller.principal.team, parent.principal.team]
  await catalog.teams.grantParent({ child, parent: from }, operatorContext())
  await catalog.teams.updateTeam(
    { values: { parentTeamSlugs: [from] }, mask: { paths: ['parent_team_slugs'] } },
    caller,
  )
  const modules = catalog.client(ModuleService)
  const own = await modules.createModule({ name: 'own', language: JAVASCRIPT, sourceCode: '' }, caller)
  await catalog.versions.publishVersion({ module: own.id, tag: 'v1' }, caller)
  await modules.createModule({ name: 'shared', language: JAVASCRIPT, sourceCode: '' }, parent)
  await modules.createModule({ name: 'tools.text', language: PYTHON, sourceCode: '' }, caller)
  await modules.createModule({ name: 'hidden', language: JAVASCRIPT, sourceCode: '' }, await catalog.team())
  for (const [language, packages] of [
    [JAVASCRIPT, { lodash: '^4.17.0', ms: '*' }],
    [PYTHON, { PyYAML: '==6.0', 'azure-storage-blob': '==12.0' }],
  ] as const) {
    await stage(caller, packages, language)
    await install(caller, language)
    Object.assign(await running(caller, packages), succeed)
    await until(async () => (await read(caller, language)).nextInstallation === undefined || undefined)
  }
  const javascript = `
    import fs from 'node:fs'; import svc from 'svc'; import fp from 'lodash/fp'; import 'ms'; import 'absent'
    require('own'); require('shared'); require('hidden'); require('./file')
    svc.import('own', 'v1'); svc.import('own', 'v2'); svc.import('lodash'); // require('comment')`
  expect(await imports(caller, JAVASCRIPT, javascript)).toEqual([
    'node:fs BUILTIN',
    'svc BUILTIN',
    'lodash PACKAGE ^4.17.0',
    'ms PACKAGE',
    'absent MISSING',
    'own MODULE',
    'shared MODULE',
    'hidden MISSING',
    './file MISSING',
    'own MODULE v1',
    'own MISSING v2',
    'lodash MISSING',
  ])
  const python =
    'import os.path, yaml\nfrom tools import text\nimport requests as r, svc\nfrom google.cloud.storage import Client\n' +
    'from azure.core.exceptions import AzureError\nimport azure.identity'
  expect(await imports(caller, PYTHON, python)).toEqual([
    'os BUILTIN',
    'yaml PACKAGE ==6.0',
    'tools.text MODULE',
    'requests MISSING',
    'svc BUILTIN',
    'google.cloud.storage MISSING',
    'azure.core.exceptions PACKAGE',
    'azure.identity MISSING',
  ])
})

test('a source that can not be checked is refused, and not called right', async () => {
  const caller = await catalog.team()
  for (const [language, source] of [
    [JAVASCRIPT, '['.repeat(100_000)],
    [PYTHON, `# ${'x'.repeat(200_000)}`],
  ] as const)
    expect(await refusal(check(caller, language, source))).toBe('/sourceCode')
})

test('a source may name any number of imports, of which the first thousand are looked up', async () => {
  const caller = await catalog.team()
  const source = Array.from({ length: 3000 }, (_, at) => `require('a${at}')`).join('\n')
  expect(await imports(caller, JAVASCRIPT, source)).toHaveLength(1000)
})

test('however many imports a Python source has, the modules of the team are gone through once', () => {
  let gone = 0
  class Counted extends Set<string> {
    override [Symbol.iterator]() {
      gone += 1
      return super[Symbol.iterator]()
    }
  }
  const names = Array.from({ length: 1000 }, (_, at) => `a.b.m${at}`)
  const reading = { ...emptyReading, written: names.map((name) => ({ name })) }
  const findable = { modules: new Counted(names), installed: {}, without: new Set<string>(), pythonImports: new Map() }
  expect(foundImports('PYTHON', reading, findable)).toHaveLength(1000)
  expect(gone).toBe(1)
})
