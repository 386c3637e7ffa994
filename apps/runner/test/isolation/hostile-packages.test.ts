import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Language } from '@automation/contract/common/v1/language'
import { littleRegistry, npmPackage, type Entry, type LittlePackage } from '@automation/testing/little-registry'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from '../runner-under-test.ts'

const far = '../../../../../../../../../../../..'

/** Packages of npm that try to reach beyond their set: to touch this file, or to bring in this folder. */
function hostileNpm(probe: string, folder: string): Record<string, LittlePackage> {
  const touch = `require('fs').writeFileSync(${JSON.stringify(probe)}, 'x')`
  const scripts = Object.fromEntries(
    ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish', 'dependencies'].map((name) => [
      name,
      `node -e "${touch.replaceAll('"', '\\"')}"; touch ${probe}`,
    ]),
  )
  const bindings = `{"targets": [{"target_name": "x", "actions": [{"action_name": "x", "inputs": [], "outputs": ["x"], "action": ["touch", "${probe}"]}]}]}`
  return {
    scripts: npmPackage('module.exports = 1', { scripts }),
    builds: npmPackage('module.exports = 1', { gypfile: true }, [{ path: 'package/binding.gyp', text: bindings }]),
    links: npmPackage('module.exports = 2', {}, [
      { path: 'package/out', link: folder },
      { path: 'package/out/probe', text: 'x' },
      { path: 'package/secret.txt', link: '/etc/passwd' },
      { path: 'package/hard.txt', hardLink: '/etc/passwd' },
      { path: `package/${far}${probe}`, text: 'x' },
      { path: probe, text: 'x' },
    ]),
    bins: npmPackage('module.exports = 1', {
      bin: { [`${far}${probe}`]: 'index.js', npm: 'index.js', node: 'index.js' },
    }),
    settings: npmPackage('module.exports = 3', {}, [
      { path: 'package/.npmrc', text: 'registry=http://127.0.0.1:1/\nignore-scripts=false\n' },
    ]),
    draws: npmPackage('module.exports = 1', { dependencies: { drawn: `file:${folder}` } }),
    huge: npmPackage('module.exports = 4', {}, [{ path: 'package/noise', noise: 80 * 2 ** 20 }]),
    bomb: npmPackage('module.exports = 4', {}, [{ path: 'package/zeros', zeros: 500 * 2 ** 20 }]),
    tampered: { ...npmPackage('module.exports = 5'), isTampered: true },
    fs: npmPackage('module.exports = "of the package"'),
    svc: npmPackage('module.exports = "of the package"'),
  }
}

/** Packages of PyPI that try the same. */
function hostilePypi(probe: string): Record<string, LittlePackage> {
  const touch = `open(${JSON.stringify(probe)}, "w").close()\n`
  const wheel = (...entries: Entry[]): LittlePackage => ({ version: '1.0.0', entries })
  return {
    climbs: wheel({ path: `${far}${probe}`, text: 'x' }),
    placed: wheel({ path: probe, text: 'x' }),
    schemes: wheel(
      { path: `schemes-1.0.0.data/data/${far}${probe}`, text: 'x' },
      { path: `schemes-1.0.0.data/scripts/${far}${probe}`, text: '#!python\n' },
    ),
    built: {
      version: '1.0.0',
      isSource: true,
      entries: [
        { path: 'built-1.0.0/setup.py', text: touch },
        { path: 'built-1.0.0/PKG-INFO', text: 'Metadata-Version: 2.1\nName: built\nVersion: 1.0.0\n' },
      ],
    },
    settings: wheel(
      { path: 'settings.py', text: 'answer = 3\n' },
      { path: 'pip.conf', text: '[global]\nindex-url = http://127.0.0.1:1/\n' },
      { path: 'settings-1.0.0.data/data/pip.conf', text: '[global]\nindex-url = http://127.0.0.1:1/\n' },
    ),
    starts: wheel(
      { path: 'starts.py', text: 'answer = 1\n' },
      { path: 'starts.pth', text: 'import os; os.environ["STARTED"] = "pth"\n' },
      { path: 'sitecustomize.py', text: 'import os; os.environ["STARTED"] = "sitecustomize"\n' },
      { path: 'usercustomize.py', text: 'import os; os.environ["STARTED"] = "usercustomize"\n' },
    ),
    linked: wheel({ path: 'linked.py', text: 'answer = 1\n' }, { path: 'linked.txt', link: '/etc/passwd' }),
    json: wheel({ path: 'json/__init__.py', text: 'whose = "of the package"\n' }),
    svc: wheel({ path: 'svc.py', text: 'whose = "of the package"\n' }),
    huge: wheel({ path: 'huge.bin', noise: 80 * 2 ** 20 }),
    bomb: wheel({ path: 'bomb.bin', zeros: 500 * 2 ** 20 }),
    tampered: { ...wheel({ path: 'tampered.py', text: '' }), isTampered: true },
  }
}

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
  const [folder] = readdirSync(sets).filter((name) => name.startsWith(dependencies.key))
  const files = folder === undefined ? [] : readdirSync(join(sets, folder, 'files'), { recursive: true }).map(String)
  const path = (name: string) => join(sets, folder ?? '', 'files', name)
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
        /a set may have 32 \(DEPENDENCIES_MAX_MB\)|more than the 64 MiB and \d+ files .*\(DEPENDENCIES_MAX_MB\)|decompression ratio exceeded/,
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
