import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Language } from '@automation/contract/common/v1/language'
import { littleRegistry, npmPackage } from '@automation/testing/little-registry'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hostileNpm, hostilePypi } from './hostile-packages.ts'
import { startRunner, type RunnerUnderTest } from '../runner-under-test.ts'

const folder = mkdtempSync(join(tmpdir(), 'hostile-packages-'))
const sets = join(folder, 'sets')
const host = join(folder, 'host')
const probe = join(host, 'probe')
const treasure = `treasure-${randomUUID()}`
const { JAVASCRIPT, PYTHON } = Language
let registry: Awaited<ReturnType<typeof littleRegistry>>
let under: RunnerUnderTest

beforeAll(async () => {
  mkdirSync(host)
  writeFileSync(join(host, 'treasure.txt'), treasure)
  writeFileSync(join(host, 'package.json'), JSON.stringify({ name: 'drawn', version: '1.0.0' }))
  registry = await littleRegistry(
    { good: npmPackage('module.exports = 0'), ...hostileNpm(probe, host) },
    hostilePypi(probe),
  )
  under = await startRunner({
    ...registry.settings,
    RUNNER_DEPENDENCIES_DIR: sets,
    DEPENDENCIES_MAX_MB: '32',
    REGISTRY_CA_FILE: '',
  })
})
afterAll(async () => {
  await under.stop()
  await registry.close()
  rmSync(folder, { recursive: true, force: true })
})
afterEach(() => {
  expect(existsSync(probe)).toBe(false)
  expect(readdirSync(host)).toEqual(['package.json', 'treasure.txt'])
})

const setOf = (...names: string[]) => ({
  key: randomUUID(),
  packages: Object.fromEntries(names.map((name) => [name, '*'])),
  digest: '',
})

/** Installs packages, and gives why that failed, if it did, and the texts of all files that came of it, by their paths. */
async function install(language: Language, ...names: string[]) {
  const dependencies = setOf(...names)
  const { explanation } = await under.replica.run('', { spec: { language, dependencies, isInstall: true } })
  const [place] = readdirSync(sets).filter((name) => name.startsWith(dependencies.key))
  const files = place === undefined ? [] : readdirSync(join(sets, place, 'files'), { recursive: true }).map(String)
  const path = (name: string) => join(sets, place ?? '', 'files', name)
  const texts = Object.fromEntries(
    files.filter((name) => statSync(path(name)).isFile()).map((name) => [name, readFileSync(path(name), 'latin1')]),
  )
  return { dependencies, explanation, texts }
}

/** What a run with these packages gives. */
async function runWith(language: Language, names: string[], source: string): Promise<unknown> {
  const { dependencies, explanation } = await install(language, ...names)
  expect(explanation).toBeUndefined()
  const run = await under.replica.run(source, { spec: { language, dependencies } })
  expect(run.explanation).toBeUndefined()
  return run.value
}

describe('a package of npm', () => {
  test.each(['scripts', 'builds'])(
    'that wants to run something when it is installed (%s) is installed, and runs nothing',
    async (name) => {
      expect(await runWith(JAVASCRIPT, [name], `return require('${name}')`)).toBe(1)
    },
  )

  test.each(['links', 'bins', 'draws'])(
    'that reaches out of its folder (%s) brings nothing from there, and leaves nothing there',
    async (name) => {
      const { explanation, texts } = await install(JAVASCRIPT, name, 'good')
      expect(explanation).toBeUndefined()
      const all = Object.values(texts).join()
      expect(all).not.toContain(treasure)
      expect(all).not.toContain('root:')
    },
  )

  test('with settings for npm is installed without them', async () => {
    expect(await runWith(JAVASCRIPT, ['settings', 'scripts'], "return require('settings')")).toBe(3)
  })

  test('that is named like a module of Node or of the service does not come before it', async () => {
    const source = `import fs from 'fs'; import svc from 'svc'
      return [typeof fs.readFileSync, typeof require('fs').readFileSync, typeof (await import('node:fs')).readFileSync,
        typeof svc.context, typeof require('svc').context]`
    expect(await runWith(JAVASCRIPT, ['fs', 'svc'], source)).toEqual([
      'function',
      'function',
      'function',
      'object',
      'object',
    ])
  })
})

describe('a package of PyPI', () => {
  test('that would have to be built is not installed, and its setup.py does not run', async () => {
    const { explanation, texts } = await install(PYTHON, 'built')
    expect(explanation).toMatch(/No matching distribution found for built/)
    expect(texts).toEqual({})
  })

  test.each(['climbs', 'placed', 'schemes'])(
    'that has a path out of its folder (%s) is not installed',
    async (name) => {
      const { explanation, texts } = await install(PYTHON, name)
      expect(explanation).toMatch(/outside the target directory|Unknown scheme key/)
      expect(texts).toEqual({})
    },
  )

  test('with a link brings nothing of what the link leads to', async () => {
    const { explanation, texts } = await install(PYTHON, 'linked')
    expect(explanation).toBeUndefined()
    expect(Object.values(texts).join()).not.toContain('root:')
  })

  test('with settings for pip is installed without them, and the next one, too', async () => {
    expect(await runWith(PYTHON, ['settings'], 'import settings\nreturn settings.answer')).toBe(3)
    expect(await runWith(PYTHON, ['settings', 'starts'], 'import starts\nreturn starts.answer')).toBe(1)
  })

  test('does not run before it is imported', async () => {
    expect(await runWith(PYTHON, ['starts'], 'import os, starts\nreturn os.environ.get("STARTED")')).toBeNull()
  })

  test('that is named like a module of Python or of the service does not come before it', async () => {
    const source = 'import json, svc\nreturn [hasattr(json, "dumps"), hasattr(svc, "context")]'
    expect(await runWith(PYTHON, ['json', 'svc'], source)).toEqual([true, true])
  })
})

describe.each([
  ['npm', JAVASCRIPT],
  ['PyPI', PYTHON],
] as const)('of %s', (_, language) => {
  test.each(['huge', 'bomb'])(
    'what is too large, packed or unpacked (%s), ends with the reason and leaves no set',
    async (name) => {
      const { explanation, texts } = await install(language, name)
      expect(explanation).toMatch(
        /larger than 32 MiB|ENOSPC|EFBIG|No space left|File too large|decompression ratio exceeded/,
      )
      expect(texts).toEqual({})
    },
  )

  test('what is not as the registry promises is not installed', async () => {
    const { explanation, texts } = await install(language, 'tampered')
    expect(explanation).toMatch(/EINTEGRITY|do not match the hashes/i)
    expect(texts).toEqual({})
  })
})
