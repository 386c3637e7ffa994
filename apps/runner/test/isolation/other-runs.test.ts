import { randomBytes } from 'node:crypto'
import { Language as RunLanguage } from '@automation/contract/common/v1/language'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from '../runner-under-test.ts'
import { sourceOf, type Found, type Language } from './attempt.ts'
import { attemptsOnRuns } from './on-runs.ts'
import { startVictim } from './victims.ts'
import { startBehind, walls } from './walls.ts'

const settings = { WALL_NONE_MANY_TEAMS: 'true' }
const languages: Language[] = ['javascript', 'python']

/** What attempts on the things of a run of `team` come to in a run of another process. */
async function makeAll(under: RunnerUnderTest, language: Language, team: string): Promise<Map<string, Found>> {
  const mark = `mark-${randomBytes(12).toString('hex')}`
  const { end, ...bait } = await startVictim(under, mark, team)
  const spec = { language: language === 'python' ? RunLanguage.PYTHON : RunLanguage.JAVASCRIPT }
  const source = sourceOf(language, attemptsOnRuns, { ...bait, mark })
  const { value, explanation } = await under.replica.run(source, { spec, run: { timeoutMs: 60_000 } })
  end()
  if (value === undefined) throw new Error(`the attempts broke the run: ${explanation}`)
  return new Map(Object.entries(value as Record<string, Found>))
}

for (const wall of walls) {
  const under = await startBehind(wall, settings)
  const fitting = attemptsOnRuns.filter(({ refusedBy }) => wall.refuses.includes(refusedBy))
  // A runner behind `pod` serves one team: there it is another run of the same one.
  const team = wall.name === 'pod' ? 'demo' : 'others'
  describe.skipIf(under === undefined)(`behind ${wall.name}`, () => {
    afterAll(() => under?.stop())
    describe.for(languages)('%s', (language) => {
      let found: Map<string, Found>
      beforeAll(async () => {
        found = await makeAll(under!, language, team)
      }, 60_000)

      test.for(fitting.map(({ name }) => name))('no process code %s', (name) => {
        expect(found.get(name)).toMatchObject({ got: false, how: expect.stringMatching(/./) })
      })
    })
  })
}

describe('behind no wall, as a control', () => {
  let under: RunnerUnderTest
  beforeAll(async () => {
    under = await startRunner({ ...settings, WALL: 'none' })
  })
  afterAll(() => under.stop())

  describe.for(languages)('%s', (language) => {
    let found: Map<string, Found>
    beforeAll(async () => {
      found = await makeAll(under, language, 'others')
    }, 60_000)

    test.for(attemptsOnRuns.map(({ name }) => name))('process code %s', (name) => {
      expect(found.get(name)).toMatchObject({ got: true })
    })
  })
})
