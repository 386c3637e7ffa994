import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeContexts, readContexts } from '../src/context/contexts.ts'

let env: { HOME: string }
beforeAll(async () => {
  env = { HOME: await mkdtemp(join(tmpdir(), 'pas-contexts-')) }
})
afterAll(() => rm(env.HOME, { recursive: true }))

test('of contexts that commands store at the same time none is lost', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `c${index}`)
  const add = (name: string) =>
    changeContexts(env, ({ contexts }) => ({
      current: name,
      contexts: { ...contexts, [name]: { url: 'http://localhost', team: name } },
    }))
  await Promise.all(names.map(add))
  const { current, contexts } = await readContexts(env)
  expect(Object.keys(contexts).toSorted()).toEqual(names)
  expect(names).toContain(current)
})
