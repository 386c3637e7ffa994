import { execFileSync } from 'node:child_process'
import { ModuleService } from '@automation/contract/catalog/v1/module'
import { Language } from '@automation/contract/common/v1/language'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pythonParser } from '../src/reading/python-fault.ts'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const { JAVASCRIPT, PYTHON } = Language

test.each([
  ['JavaScript', JAVASCRIPT, 'const a = 1\nreturn a +', 'line 2, column 11: Unexpected token'],
  ['a JavaScript module', JAVASCRIPT, "import a from 'a'\nconst = 1", 'line 2, column 7: Unexpected token'],
  ['Python', PYTHON, 'a = 1\nprint "hello"', 'line 2, column 1: Missing parentheses in call'],
  ['Python with imports', PYTHON, 'import os\nif a:\nreturn 1', 'line 3, column 1: expected an indented block'],
])('a source with a syntax error is saved, and the answer says where it is: %s', async (_, language, broken, said) => {
  const caller = await catalog.team()
  const made = await catalog.process(caller, { language, sourceCode: broken })
  expect(made.warnings).toMatchObject([{ path: '/sourceCode', message: expect.stringContaining(said) }])
  const read = await catalog.processes.getProcess({ identifier: made.id }, caller)
  expect(read).toMatchObject({ sourceCode: broken, warnings: [] })
  const update = (values: object, path: string) =>
    catalog.processes.updateProcess({ identifier: made.id, values, mask: { paths: [path] } }, caller)
  expect((await update({ name: 'renamed' }, 'name')).warnings).toEqual([])
  expect((await update({ sourceCode: broken }, 'source_code')).warnings).toHaveLength(1)
  expect((await update({ sourceCode: 'return 1' }, 'source_code')).warnings).toEqual([])
  const modules = catalog.client(ModuleService)
  const module = await modules.createModule({ name: 'broken', language, sourceCode: broken }, caller)
  expect(module.warnings).toMatchObject([{ path: '/sourceCode', message: expect.stringContaining(said) }])
  expect((await modules.updateModule({ id: module.id, sourceCode: broken }, caller)).warnings).toHaveLength(1)
  expect((await modules.updateModule({ id: module.id, sourceCode: '' }, caller)).warnings).toEqual([])
  const { versions } = catalog
  for (const owner of [{ process: made.id }, { module: module.id }]) {
    const published = await versions.publishVersion({ ...owner, tag: 'v1', sourceCode: broken }, caller)
    expect(published.warnings).toMatchObject([{ path: '/sourceCode', message: expect.stringContaining(said) }])
    expect((await versions.getVersion({ ...owner, version: 'v1' }, caller)).warnings).toEqual([])
  }
  await update({ sourceCode: broken }, 'source_code')
  await modules.updateModule({ id: module.id, sourceCode: broken }, caller)
  for (const owner of [{ process: made.id }, { module: module.id }]) {
    const published = await versions.publishVersion({ ...owner, tag: 'stored' }, caller)
    expect(published.warnings).toMatchObject([{ path: '/sourceCode', message: expect.stringContaining(said) }])
  }
})

test.each([
  ['nothing', JAVASCRIPT, ''],
  ['a return and an await at the top', JAVASCRIPT, 'const a = await 1\nreturn a'],
  ['a module with a return', JAVASCRIPT, "import fs from 'fs'\nexport const a = 1\nreturn a"],
  ['a sloppy script', JAVASCRIPT, 'with ({ a: 1 }) { return a }'],
  ['a return at the top', PYTHON, 'import os\nreturn os.getcwd()'],
  ['a byte order mark', PYTHON, '\uFEFFreturn 1'],
])('what runs has no warning: %s', async (_, language, sourceCode) => {
  expect((await catalog.process(await catalog.team(), { language, sourceCode })).warnings).toEqual([])
})

test('a source that can not be read in time and imports nothing is saved and published all the same', async () => {
  const caller = await catalog.team()
  for (const language of [JAVASCRIPT, PYTHON]) {
    const sourceCode = '['.repeat(100_000)
    const made = await catalog.process(caller, { language, sourceCode })
    expect(made).toMatchObject({ sourceCode })
    const published = await catalog.versions.publishVersion({ process: made.id, tag: 'v1' }, caller)
    expect(published).toMatchObject({ sourceCode })
  }
})

test('a Python source of up to 128 KiB is looked at, with names of any letters; a larger one is saved without a warning', async () => {
  const caller = await catalog.team()
  const warnings = async (sourceCode: string) =>
    (await catalog.process(caller, { language: PYTHON, sourceCode })).warnings.map(({ message }) => message)
  const most = 128 * 1024
  const broken = 'é = "\\N{BULLET}"\n)'
  const said = [expect.stringContaining(`line 2, column 1: unmatched ')'`)]
  expect(await warnings(broken.padEnd(most, '\n'))).toEqual(said)
  expect(await warnings(broken.padEnd(most + 1, '\n'))).toEqual([])
})

// Stands for a fault of the parser by which a source gets to do what it likes.
const captured = `
import builtins, ctypes, os, socket
parent = os.getppid()
def tries(*_):
    def memory():
        bytearray(2**27)
    found = []
    for each in (
        lambda: open(f'/proc/{parent}/environ'), lambda: os.listdir('/'), socket.socket, lambda: os.kill(parent, 0),
        lambda: os.execv('/bin/true', ['true']), os.fork, memory,
    ):
        try:
            each()
            found.append('done')
        except (OSError, MemoryError) as error:
            found.append(type(error).__name__)
    raise SyntaxError(' '.join(found))
builtins.compile = tries
`

test('what parses Python reaches no file, network or process, and has little memory', () => {
  const said = execFileSync('python3', ['-I', '-S', '-c', captured + pythonParser], { input: 'a', encoding: 'utf8' })
  expect(said).toBe(`1 1 ${'PermissionError '.repeat(6)}MemoryError`)
})
