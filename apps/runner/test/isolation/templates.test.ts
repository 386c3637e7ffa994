import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Language } from '@automation/contract/common/v1/language'
import { littleRegistry } from '@automation/testing/little-registry'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { levels, startBehind, titleOf } from './levels.ts'

const dependencies = { key: randomUUID(), packages: { plain: '*' }, digest: '' }
const spec = { language: Language.PYTHON, dependencies }
const text = 'import os, time\nnow = time.time_ns()\npid = os.getpid()\n'

/** What a run gets done to the process that imported for it; signals only such as end nobody. */
const source = `import plain, os, signal
def attempt(what):
    try:
        what()
        return "done"
    except OSError:
        return "refused"
attempts = {
    "looks for it": lambda: os.kill(plain.pid, 0),
    "sends a signal": lambda: os.kill(plain.pid, signal.SIGCONT),
    "sends a signal to its group": lambda: os.killpg(plain.pid, signal.SIGCONT),
    "opens its memory": lambda: open("/proc/%d/mem" % plain.pid, "rb").close(),
    "lists what it has open": lambda: os.listdir("/proc/%d/fd" % plain.pid),
}
found = {name: attempt(what) for name, what in attempts.items()}
found["is it"] = "done" if plain.pid == os.getpid() else "refused"
return [plain.now, found]`

describe.each(levels.map((level) => ({ level, title: titleOf(level) })))('$title', async ({ level }) => {
  const folder = mkdtempSync(join(tmpdir(), 'templates-test-'))
  const entries = [{ path: 'plain.py', text }]
  const registry = await littleRegistry({}, { plain: { version: '1.0.0', entries } })
  const settings = { ...registry.settings, RUNNER_DEPENDENCIES_DIR: folder }
  const under = await startBehind(level, settings)
  beforeAll(async () => {
    const installed = await under?.replica.run('', { spec: { ...spec, isInstall: true } })
    expect(installed?.explanation).toBeUndefined()
  })
  afterAll(async () => {
    await under?.stop()
    await registry.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test.skipIf(under === undefined)('runs of one import reach nothing of the process that did it', async () => {
    const ended = []
    for (let each = 0; each < 3; each += 1) {
      const { value, explanation } = await under!.replica.run(source, { spec })
      expect(explanation).toBeUndefined()
      ended.push(value as [now: number, found: Record<string, string>])
      await under!.settled()
    }
    expect(new Set(ended.map(([now]) => now)).size).toBe(1)
    for (const [, found] of ended) expect(Object.entries(found).filter(([, got]) => got !== 'refused')).toEqual([])
  })
})
