import { Language } from '@automation/contract/common/v1/language'
import { afterAll, describe, expect, test } from 'vitest'
import { startBehind, titleOf, levels } from './levels.ts'

// Forks of one process have the same hashes, which no process code is to know of another team's.
const hash = 'return hash("what nobody can guess")'
const drawn = 'import random\nreturn [random.random(), random.getrandbits(64)]'
const found = `import importlib, os, sys
def is_found(name):
    try:
        importlib.import_module(name)
        return True
    except ImportError:
        return False
def scripts(words):
    return [each.rpartition("/")[2] for each in words if each.endswith(".py")]
try:
    with open("/proc/self/cmdline", "rb") as file:
        shown = file.read().rstrip(b"\\0").decode().split("\\0")
except PermissionError:
    shown = None
return {
    "imports": [each for each in ("main", "ahead", "zygote", "launcher", "levels", "kernel", "removal") if is_found(each)],
    "shown": shown and scripts(shown),
    "told": scripts(sys.orig_argv),
    "variables": sorted(os.environ),
    "input": os.read(0, 1).decode(),
    "writes": sys.dont_write_bytecode,
}`

for (const level of [...levels, { name: 'none', refuses: [], needs: [], settings: { ISOLATION: 'none' } }]) {
  describe(titleOf(level), async () => {
    const under = await startBehind(level, {})
    afterAll(() => under?.stop())
    const run = async (source: string, digest: string) => {
      const { value, explanation } = await under!.replica.run(source, { spec: { language: Language.PYTHON, digest } })
      return value ?? explanation
    }
    const areForks = level.name !== 'none' && level.settings['ISOLATION_NETWORK'] !== 'own'
    const title = areForks ? 'children are forks of one process' : 'children are no forks of one process'

    test.skipIf(under === undefined)(title, async () => {
      const hashes = [await run(hash, 'first'), await run(hash, 'second'), await run(hash, 'third')]
      expect(hashes.map((each) => typeof each)).toEqual(['number', 'number', 'number'])
      expect(new Set(hashes).size).toBe(areForks ? 1 : 3)
    })

    test.skipIf(under === undefined)('each draws random numbers of its own', async () => {
      expect(await run(drawn, 'fourth')).not.toEqual(await run(drawn, 'fifth'))
    })

    test.skipIf(under === undefined)('a child has nothing of what has started it', async () => {
      expect(await run(found, 'sixth')).toEqual({
        imports: [],
        shown: level.name === 'pod' ? null : ['main.py'],
        told: ['main.py'],
        variables: ['HOME', 'LANG', 'PATH', 'TMPDIR', 'TMP_DATA_DIR', 'TZ'],
        input: '',
        writes: false,
      })
    })
  })
}
