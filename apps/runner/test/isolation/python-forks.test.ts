import { Language } from '@automation/contract/common/v1/language'
import { afterAll, describe, expect, test } from 'vitest'
import { startBehind, titleOf, levels } from './levels.ts'

// Forks of one process have the same hashes, which no process code is to know of another team's.
const hash = 'return hash("what nobody can guess")'
const found = `import importlib, json, os, random, sys
def is_found(name):
    try:
        importlib.import_module(name)
        return True
    except ImportError:
        return False
try:
    with open("/proc/self/cmdline", "rb") as file:
        shown = file.read().rstrip(b"\\0").decode().split("\\0")
except PermissionError:
    shown = []
return {
    "imports": [each for each in ("main", "zygote", "launcher", "levels", "kernel", "removal") if is_found(each)],
    "shown": [each.rpartition("/")[2] for each in shown if "launcher" in each or each.endswith(".py")],
    "told": [each.rpartition("/")[2] for each in sys.orig_argv if "launcher" in each or each.endswith(".py")],
    "variables": sorted(os.environ),
    "input": os.read(0, 1).decode(),
    "writes": sys.dont_write_bytecode,
}`

for (const level of levels) {
  const isOwn = level.settings['ISOLATION_NETWORK'] === 'own'
  describe.each(['false', 'true'])(`${titleOf(level)}, ISOLATION_MANY_TEAMS=%s`, async (many) => {
    const under = await startBehind(level, { ISOLATION_MANY_TEAMS: many })
    afterAll(() => under?.stop())
    const run = async (source: string, digest: string) => {
      const { value, explanation } = await under!.replica.run(source, { spec: { language: Language.PYTHON, digest } })
      return value ?? explanation
    }

    test.skipIf(under === undefined)('only children of one team alone are forks of one process', async () => {
      const hashes = [await run(hash, 'first'), await run(hash, 'second'), await run(hash, 'third')]
      expect(hashes.map((each) => typeof each)).toEqual(['number', 'number', 'number'])
      expect(new Set(hashes).size).toBe(isOwn || many === 'true' ? 3 : 1)
    })

    test.skipIf(under === undefined)('they draw random numbers of their own', async () => {
      const drawn = 'import random\nreturn [random.random(), random.getrandbits(64)]'
      const [first, second] = [await run(drawn, 'fourth'), await run(drawn, 'fifth')]
      expect(first).not.toEqual(second)
    })

    test.skipIf(under === undefined)('a child has nothing of what has started it', async () => {
      expect(await run(found, 'sixth')).toEqual({
        imports: [],
        shown: level.name === 'pod' ? [] : ['main.py'],
        told: ['main.py'],
        variables: ['HOME', 'LANG', 'PATH', 'TMPDIR', 'TMP_DATA_DIR', 'TZ'],
        input: '',
        writes: false,
      })
    })
  })
}
