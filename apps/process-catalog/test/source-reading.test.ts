import { ModuleService } from '@automation/contract/catalog/v1/module'
import { Language } from '@automation/contract/common/v1/language'
import type { CallContext } from '@automation/rpc'
import { refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const detecting = { dependenciesAutoDetect: true }

test('while a source is read that takes long, others are answered', async () => {
  const caller = await catalog.team()
  const answers: string[] = []
  const answered = (what: string) => () => void answers.push(what)
  const large = catalog.process(caller, { ...detecting, name: 'large', sourceCode: dense(2 ** 21) })
  const ended = large.then(answered('large'), answered('large'))
  const { id } = await catalog.process(caller, { webhookUsername: 'u', webhookPassword: 'p' })
  for (let n = 0; n < 5; n += 1) await catalog.processes.getProcess({ identifier: id }, caller)
  answered('others')()
  await ended
  expect(answers).toEqual(['others', 'large'])
})

describe('while sources of one team wait to be read', () => {
  test('saves of another do not wait for them, large or small', async () => {
    const [busy, quiet] = [await catalog.team(), await catalog.team()]
    const answers: string[] = []
    const save = async (who: string, caller: CallContext, sourceCode: string) => {
      await catalog.process(caller, { sourceCode })
      answers.push(who)
    }
    // Large ones have a thread of their own.
    const large = dense(2 ** 18)
    // Both threads are there.
    await Promise.all([save('', quiet, large), save('', quiet, "import 'a'")])
    answers.length = 0
    // On a slow machine one may take too long, which is no matter here.
    const queued = Promise.allSettled(Array.from({ length: 12 }, () => save('busy', busy, large)))
    // Some of the twelve are through while these are written.
    await save('quiet, small', quiet, "import 'a'")
    expect(answers.length).toBeLessThanOrEqual(5)
    await save('quiet, large', quiet, large)
    expect(answers.length).toBeLessThanOrEqual(10)
    await queued
  })
})

test.each([
  ['JavaScript', Language.JAVASCRIPT, `import 'a'\n${'['.repeat(100_000)}`],
  ['JavaScript with a request alone', Language.JAVASCRIPT, `// @add-package a\n${'['.repeat(100_000)}`],
])('a source that can not be read is refused, and the next one is read: %s', async (_, language, sourceCode) => {
  const caller = await catalog.team()
  const values = { ...detecting, language }
  expect(await refusal(catalog.process(caller, { ...values, sourceCode }))).toBe('/sourceCode')
  expect(await refusal(catalog.client(ModuleService).createModule({ name: 'a', language, sourceCode }, caller))).toBe(
    '/sourceCode',
  )
  const { id } = await catalog.process(caller, { ...values, sourceCode: "import 'b'" })
  expect(await refusal(update(caller, id, { sourceCode }, 'source_code'))).toBe('/sourceCode')
  expect((await catalog.spec(caller, id)).awaitedDependencies).toBe('b')
})

describe('packages that are detected from now on', () => {
  test('are those of the source that is there, in comments and imports, without names of modules', async () => {
    const caller = await catalog.team()
    await catalog.client(ModuleService).createModule({ name: 'own', language: Language.JAVASCRIPT }, caller)
    const { id } = await catalog.process(caller, { sourceCode: "import 'own'; import 'a' // @add-package b@1" })
    expect((await catalog.spec(caller, id)).awaitedDependencies).toBe('')
    await update(caller, id, detecting, 'dependencies_auto_detect')
    expect(await awaited(caller, id)).toEqual(['a', 'b'])
  })

  test('are kept in the set of a process that gets one of its own', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.process(caller, { ...detecting, sourceCode: "import 'a'" })
    const after = await update(caller, id, { dependenciesScopedToProcess: true }, 'dependencies_scoped_to_process')
    expect(after.dependencies).toEqual({ a: '*' })
  })

  test('are those of the source that another save brings at the same time', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.process(caller, { sourceCode: "import 'old'" })
    // Those who wait for the thread that reads are overtaken by who has nothing to be read.
    const long = `import 'a'\n${'// a comment\n'.repeat(9000)}`
    const busy = catalog.process(caller, { name: 'busy', sourceCode: long })
    const turned = update(caller, id, detecting, 'dependencies_auto_detect')
    await update(caller, id, { sourceCode: 'return 1' }, 'source_code')
    await Promise.all([busy, turned])
    expect(await awaited(caller, id)).toEqual([])
    const saves = ["import 'b'", "import 'c'", "import 'd'"].map((sourceCode) =>
      Promise.all([
        update(caller, id, { sourceCode }, 'source_code'),
        update(caller, id, detecting, 'dependencies_auto_detect'),
      ]),
    )
    await Promise.all(saves)
    const { sourceCode } = await catalog.processes.getProcess({ identifier: id }, caller)
    expect(sourceCode).toContain((await awaited(caller, id)).join())
    expect(await awaited(caller, id)).toHaveLength(1)
  })
})

function update(caller: CallContext, identifier: string, values: object, path: string) {
  return catalog.processes.updateProcess({ identifier, values, mask: { paths: [path] } }, caller)
}

async function awaited(caller: CallContext, id: string): Promise<string[]> {
  const { awaitedDependencies } = await catalog.spec(caller, id)
  return awaitedDependencies
    .split(/[, ]+/)
    .filter((name) => name !== '')
    .toSorted()
}

/** JavaScript of about so many characters, which all have to be read. */
function dense(characters: number): string {
  const line = '{ const f = (a) => a.b(1, "c") + d * 2 }\n'
  return `import 'a'\n${line.repeat(Math.floor(characters / line.length))}`
}
