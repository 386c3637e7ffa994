import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DependencySetSchema } from '@automation/contract/catalog/v1/resolve'
import { Language } from '@automation/contract/common/v1/language'
import { littleRegistry, npmPackage } from '@automation/testing/little-registry'
import { create } from '@bufbuild/protobuf'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { PackageSetService } from '@automation/contract/storage/v1/package_set'
import { Failure, notFound } from '@automation/errors'
import { InProcessNetwork, served, type ServedService } from '@automation/rpc'
import { SharedSets } from '../src/dependencies/shared-sets.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { ScriptedReplica } from './scripted-replica.ts'

const chunkBytes = 64 * 1024

/** Storage as runners see it for sets of packages, whose contents a test may change. */
class ScriptedStorage {
  /** Packed sets by key and runtime. */
  readonly sets = new Map<string, Buffer>()
  /** The tokens of all calls. */
  readonly tokens: { call: 'upload' | 'download'; token: string | undefined }[] = []
  isAway = false
  /** Which key the token of an install names. */
  keyOf = (_token: string | undefined): string => ''

  get services(): ServedService[] {
    return [
      served(PackageSetService, {
        uploadSet: async (requests, { principal }) => {
          this.tokens.push({ call: 'upload', token: principal.token })
          this.#answer()
          let runtime = ''
          const chunks: Uint8Array[] = []
          for await (const { part } of requests)
            if (part.case === 'begin') runtime = part.value.runtime
            else if (part.case === 'chunk') chunks.push(part.value)
          this.sets.set(`${this.keyOf(principal.token)} ${runtime}`, Buffer.concat(chunks))
          return {}
        },
        keepSets: () => {
          throw new Failure('permission_denied', 'permission_denied', 'Not for runners')
        },
        hasSet: () => {
          throw new Failure('permission_denied', 'permission_denied', 'Not for runners')
        },
        downloadSet: ({ key, runtime }, { principal }) => this.#read(`${key} ${runtime}`, principal.token),
      }),
    ] as ServedService[]
  }

  async *#read(name: string, token: string | undefined) {
    this.tokens.push({ call: 'download', token })
    this.#answer()
    const content = this.sets.get(name)
    if (content === undefined) throw notFound('package_set')
    for (let at = 0; at < content.length; at += chunkBytes) yield { chunk: content.subarray(at, at + chunkBytes) }
  }

  #answer(): void {
    if (this.isAway) throw new Failure('unavailable', 'unavailable', 'Storage is away')
  }
}

const folder = mkdtempSync(join(tmpdir(), 'shared-sets-test-'))
const { JAVASCRIPT, PYTHON } = Language
const storage = new ScriptedStorage()
storage.keyOf = (token = '') => token.replace('token of install-', '')

interface Installed {
  language: Language
  dependencies: { key: string; packages: Record<string, string>; digest: string }
}

/** Sets that one runner has installed and stored, by language, and the settings of the registry they came from, which is closed. */
const made = {} as Record<Language, Installed>
const stored = new Map<string, Buffer>()
let settings: Record<string, string>

beforeAll(async () => {
  const registry = await registryOf()
  settings = registry.settings
  await anotherRunner(settings, async (first) => {
    made[JAVASCRIPT] = await installed(first, JAVASCRIPT, 'good')
    made[PYTHON] = await installed(first, PYTHON, 'simple')
    expect(await first.metric('runner_package_sets_total', 'shared')).toBe(2)
  })
  await registry.close()
  const uploads = [JAVASCRIPT, PYTHON].map((language) => made[language].dependencies.key)
  expect(storage.tokens).toEqual(uploads.map((key) => ({ call: 'upload', token: `token of install-${key}` })))
  for (const [name, packed] of storage.sets) stored.set(name, packed)
})
beforeEach(() => {
  storage.sets.clear()
  storage.tokens.length = 0
  storage.isAway = false
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const registryOf = () =>
  littleRegistry(
    { good: npmPackage('exports.answer = () => 42', {}, [{ path: 'package/noise', noise: 500_000 }]) },
    { simple: { version: '2.0.0', entries: [{ path: 'simple/__init__.py', text: 'answer = lambda: 43\n' }] } },
  )

/** A runner with a directory of its own for its sets. */
async function anotherRunner(settings: Record<string, string>, work: (runner: RunnerUnderTest) => Promise<void>) {
  const sets = mkdtempSync(join(folder, 'sets-'))
  const all = { ...settings, RUNNER_DEPENDENCIES_DIR: sets, DEPENDENCIES_MAX_MB: '32' }
  // Spare children find no packages.
  const fixed = { children: { spares: 0 } }
  const runner = await startRunner(all, new ScriptedReplica(), storage.services, fixed)
  try {
    await work(runner)
    expect(readdirSync(sets).filter((name) => name.startsWith('.'))).toEqual([])
    for (const set of readdirSync(sets))
      expect(readdirSync(join(sets, set)).toSorted()).toEqual(['complete.json', 'files'])
  } finally {
    await runner.stop()
  }
}

async function installed(under: RunnerUnderTest, language: Language, name: string): Promise<Installed> {
  const dependencies = { key: randomUUID(), packages: { [name]: '*' }, digest: '' }
  const run = { executionId: `i-${dependencies.key}`, token: `token of install-${dependencies.key}` }
  const { value, explanation } = await under.replica.run('', { run, spec: { language, dependencies, isInstall: true } })
  expect(explanation).toBeUndefined()
  return { language, dependencies: { ...dependencies, digest: (value as { digest: string }).digest } }
}

const sources = {
  [JAVASCRIPT]: "return require('good').answer()",
  [PYTHON]: 'import simple\nreturn simple.answer()',
} as Record<Language, string>
const use = (under: RunnerUnderTest, spec: Installed) => under.replica.run(sources[spec.language]!, { spec })

/** The name and the content of a set in storage. */
function storedOf(language: Language): [name: string, packed: Buffer] {
  return [...stored].find(([name]) => name.startsWith(made[language].dependencies.key)) ?? expect.fail()
}

test.each([
  ['JavaScript', JAVASCRIPT, 42],
  ['Python', PYTHON, 43],
])(
  'a set of %s that one runner has installed is fetched by another one, without a registry',
  async (_, language, answer) => {
    const [name, packed] = storedOf(language)
    storage.sets.set(name, packed)
    await anotherRunner(settings, async (second) => {
      expect(await use(second, made[language])).toMatchObject({ value: answer, explanation: undefined })
      expect(await second.metric('runner_package_sets_total', 'fetched')).toBe(1)
      expect(await second.metric('runner_package_sets_total', 'installed')).toBe(0)
      expect(await second.metric('runner_package_set_bytes_total', 'fetched')).toBe(packed.length)
      // With its own token; that an install stores with its own is seen above.
      expect(storage.tokens).toEqual([{ call: 'download', token: 'token of run-1' }])
    })
  },
)

const damages: [how: string, change: (packed: Buffer) => Buffer][] = [
  ['one bit was changed', (packed) => Buffer.from(packed.map((byte, at) => (at === 1000 ? byte ^ 1 : byte)))],
  ['it was cut off', (packed) => packed.subarray(0, packed.length - 1)],
  ['it goes on and on', () => Buffer.alloc(33 * 2 ** 20)],
]

test('a set that is damaged in whatever way is refused and installed anew', async () => {
  const set = made[JAVASCRIPT]
  const [name, packed] = storedOf(JAVASCRIPT)
  const registry = await registryOf()
  await anotherRunner(registry.settings, async (second) => {
    for (const [at, [how, change]] of damages.entries()) {
      const key = randomUUID()
      storage.sets.set(name.replace(set.dependencies.key, key), change(packed))
      const { value } = await use(second, { ...set, dependencies: { ...set.dependencies, key } })
      expect(value, how).toBe(42)
      expect(await second.metric('runner_package_sets_total', 'refused'), how).toBe(at + 1)
      expect(await second.metric('runner_package_sets_total', 'installed'), how).toBe(at + 1)
    }
    // A run stores none.
    expect(storage.tokens.filter(({ call }) => call === 'upload')).toEqual([])
  })
  await registry.close()
})

test('a set whose file is gone while storage is away is an error of its sharing alone', async () => {
  storage.isAway = true
  const network = new InProcessNetwork()
  network.add(storage.services)
  const set = { set: create(DependencySetSchema, { key: randomUUID() }), runtime: 'node', token: 'token' }
  const gone = join(folder, 'gone')
  const shared = new SharedSets(network).share(set, gone, { digest: '', packedBytes: 1 }, new AbortController().signal)
  await expect(shared).rejects.toThrow(/ENOENT/)
})

test('a set is installed, and runs begin, while storage is away', async () => {
  storage.isAway = true
  const registry = await registryOf()
  await anotherRunner(registry.settings, async (runner) => {
    const set = await installed(runner, JAVASCRIPT, 'good')
    expect((await use(runner, set)).value).toBe(42)
    const dependencies = { key: randomUUID(), packages: { good: '*' }, digest: 'ab'.repeat(32) }
    expect((await use(runner, { language: JAVASCRIPT, dependencies })).value).toBe(42)
  })
  await registry.close()
})
