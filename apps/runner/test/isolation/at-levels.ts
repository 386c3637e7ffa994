import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Language as RunLanguage } from '@automation/contract/common/v1/language'
import { startRunner, type RunnerUnderTest } from '../runner-under-test.ts'
import type { Attempt, Found, Language } from './attempt.ts'
import { startBehind, titleOf, levels } from './levels.ts'

export const languages: Language[] = ['javascript', 'python']

export interface Trials {
  settings: Record<string, string>
  attempts: Attempt[]
  /** Those that succeed where there is no isolation. */
  controls: Attempt[]
  /** Makes the attempts with a runner at the level of this name. */
  makeAll(under: RunnerUnderTest, language: Language, attempts: Attempt[], level: string): Promise<Map<string, Found>>
}

/** Tests that no attempt gets through an isolation level of this machine that is to refuse it, and that all do where there is none. */
export async function testAtLevels({ settings, attempts, controls, makeAll }: Trials): Promise<void> {
  for (const level of levels) {
    const under = await startBehind(level, settings)
    const checks = (await under?.runner.ready()) ?? []
    const bySlirp = checks.some(({ detail }) => detail?.includes('slirp4netns'))
    const fitting = attempts.filter(
      ({ refusedBy }) => level.refuses.includes(refusedBy) || (bySlirp && refusedBy === 'slirp4netns'),
    )
    describe.skipIf(under === undefined)(titleOf(level), () => {
      afterAll(() => under?.stop())
      describe.for(languages)('%s', (language) => {
        let found: Map<string, Found>
        beforeAll(async () => {
          found = await makeAll(under!, language, fitting, level.name)
        })

        test.for(fitting.map(({ name }) => name))('no process code %s', (name) => {
          expect(found.get(name)).toMatchObject({ got: false, how: expect.stringMatching(/\w/) })
        })
      })
    })
  }

  describe('without isolation, as a control', () => {
    let under: RunnerUnderTest
    beforeAll(async () => {
      under = await startRunner({ ...settings, ISOLATION: 'none' })
    })
    afterAll(() => under.stop())

    describe.for(languages)('%s', (language) => {
      let found: Map<string, Found>
      beforeAll(async () => {
        found = await makeAll(under, language, controls, 'none')
      })

      test.for(controls.map(({ name }) => name))('process code %s', (name) => {
        expect(found.get(name)).toMatchObject({ got: true })
      })
    })
  })
}

/** Runs a source that makes attempts, and gives what each came to. */
export async function runAttempts(
  under: RunnerUnderTest,
  language: Language,
  source: string,
): Promise<[string, Found][]> {
  const spec = { language: language === 'python' ? RunLanguage.PYTHON : RunLanguage.JAVASCRIPT }
  const { value, explanation } = await under.replica.run(source, { spec, run: { timeoutMs: 110_000 } })
  if (value === undefined) throw new Error(`the attempts broke the run: ${explanation}`)
  return Object.entries(value as Record<string, Found>)
}
