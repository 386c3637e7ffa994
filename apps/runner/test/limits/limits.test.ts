import { until } from '@automation/testing'
import { Language as Languages } from '@automation/contract/common/v1/language'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { startBehind, titleOf, levels } from '../isolation/levels.ts'
import { mark, type Language } from './attack.ts'
import { regardlessOfLevel, faultOf, made, next, settings } from './judged.ts'
import { leftOverFiles, leftOverProcesses } from './left-over.ts'

for (const level of levels) {
  const tmpDir = mkdtempSync(join(tmpdir(), 'limits-'))
  const under = await startBehind(level, { ...settings, TMPDIR: tmpDir })
  afterAll(async () => {
    await under?.stop()
    rmSync(tmpDir, { recursive: true, force: true })
  })

  describe.skipIf(under === undefined)(`${titleOf(level)}, only the run ends that`, () => {
    const hand = (source: string, language: Language, timeoutMs = 60_000) => {
      const spec = { language: language === 'python' ? Languages.PYTHON : Languages.JAVASCRIPT }
      return under!.replica.run(source, { spec, run: { timeoutMs } })
    }

    const fitting = made.filter(([, , attack]) => level === levels[0] || !regardlessOfLevel.has(attack))
    test.for(fitting)('%s (%s)', { timeout: 120_000 }, async ([, language, attack]) => {
      const source = attack[language]!
      const ended = await hand(source, language, attack.timeoutMs)
      expect(faultOf(attack, ended)).toBeUndefined()
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

const mounts = () => readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
