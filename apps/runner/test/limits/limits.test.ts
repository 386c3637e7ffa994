import { until } from '@automation/testing'
import { Language as Languages } from '@automation/contract/common/v1/language'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { startBehind, titleOf, walls } from '../isolation/walls.ts'
import type { Ended } from '../scripted-replica.ts'
import { mark, type Attack, type Language } from './attack.ts'
import { attacks, regardlessOfWall } from './attacks.ts'
import { leftOverFiles, leftOverProcesses } from './left-over.ts'

const settings = {
  RUN_MEMORY_MB: '96',
  RUN_TMP_MB: '16',
  LOG_MAX_LINES: '1000',
  LOG_MAX_BYTES: '300000',
  RETURN_VALUE_MAX_BYTES: '1000000',
}
const languages: Language[] = ['javascript', 'python']
const made = attacks.flatMap((attack) =>
  languages.flatMap((language) => (attack[language] === undefined ? [] : ([[attack.name, language, attack]] as const))),
)

// Tells what it finds of others before it: in its directories, and whether the child still works.
const next: Record<Language, string> = {
  javascript: `const fs = require('fs'); return [process.cwd(), '/dev/shm'].flatMap((path) => { try { return fs.readdirSync(path) } catch { return [] } })`,
  python: `
import os
def names(path):
    try:
        return os.listdir(path)
    except OSError:
        return []
return names(".") + names("/dev/shm")`,
}

for (const wall of walls) {
  const tmpDir = mkdtempSync(join(tmpdir(), 'limits-'))
  const under = await startBehind(wall, { ...settings, RUNNER_TMP_DIR: tmpDir })
  afterAll(async () => {
    await under?.stop()
    rmSync(tmpDir, { recursive: true, force: true })
  })

  describe.skipIf(under === undefined)(`${titleOf(wall)}, only the run ends that`, () => {
    const hand = (source: string, language: Language, timeoutMs = 60_000) => {
      const spec = { language: language === 'python' ? Languages.PYTHON : Languages.JAVASCRIPT }
      return under!.replica.run(source, { spec, run: { timeoutMs } })
    }

    const fitting = made.filter(([, , attack]) => wall === walls[0] || !regardlessOfWall.has(attack))
    test.for(fitting)('%s (%s)', { timeout: 120_000 }, async ([, language, attack]) => {
      const source = attack[language]!
      const ended = await hand(source, language, attack.timeoutMs)
      expectEnd(attack, ended)
      await under!.settled()
      await until(() => leftOverProcesses(mark).length === 0, { what: `gone: ${leftOverProcesses(mark).join()}` })
      const root = join(tmpDir, readdirSync(tmpDir)[0]!)
      await until(() => leftOverFiles(root).length === 0, { what: `gone: ${leftOverFiles(root).join()}` })
      expect(mounts().filter((line) => line.includes(tmpDir))).toEqual([])
      // Of the same program key only in its language; children without a run are the rule here.
      const { value, explanation } = await hand(next[language], language)
      expect(explanation ?? value).toEqual([])
    })
  })
}

function expectEnd({ ends, logEnds }: Attack, { value, explanation, log }: Ended): void {
  if (ends instanceof RegExp) expect(explanation ?? `the value ${JSON.stringify(value)}`).toMatch(ends)
  else expect(explanation ?? { value }).toEqual(ends)
  const [last, ...rest] = log.map(({ message }) => message).toReversed()
  if (logEnds !== undefined) expect(explanation === undefined ? last : rest[0]).toMatch(logEnds)
}

const mounts = () => readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
