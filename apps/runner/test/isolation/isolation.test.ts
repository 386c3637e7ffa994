import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Language as RunLanguage } from '@automation/contract/common/v1/language'
import { startRunner, type RunnerUnderTest } from '../runner-under-test.ts'
import { hasControl, sourceOf, type Attempt, type Found, type Language } from './attempt.ts'
import { layBait } from './bait.ts'
import { attemptsOnFiles } from './on-files.ts'
import { attemptsOnKernel } from './on-kernel.ts'
import { attemptsOnMachine } from './on-machine.ts'
import { attemptsOnNetwork } from './on-network.ts'
import { attemptsOnProcesses } from './on-processes.ts'
import { attemptsOnSharedThings } from './on-shared-things.ts'
import { startBehind, walls } from './walls.ts'

const { bait, remove } = await layBait()
afterAll(remove)

const closed = [bait.gatewayPort, bait.executionPort, bait.healthPort, bait.databasePort]
const settings = { RUNNER_CLOSED_PORTS: closed.join(','), WALL_NONE_MANY_TEAMS: 'true' }
const languages: Language[] = ['javascript', 'python']
const attempts: Attempt[] = [
  ...attemptsOnFiles,
  ...attemptsOnProcesses,
  ...attemptsOnSharedThings,
  ...attemptsOnNetwork,
  ...attemptsOnKernel,
  ...attemptsOnMachine,
]
const inSlices = 3

/** What all attempts of a language came to behind the wall of this runner. */
async function makeAll(under: RunnerUnderTest, language: Language, all: Attempt[]): Promise<Map<string, Found>> {
  const spec = { language: language === 'python' ? RunLanguage.PYTHON : RunLanguage.JAVASCRIPT }
  const slices = Array.from({ length: inSlices }, (_, at) => all.filter((_each, place) => place % inSlices === at))
  const found = new Map<string, Found>()
  for (const slice of slices) {
    const source = sourceOf(language, slice, bait)
    const { value, explanation } = await under.replica.run(source, { spec, run: { timeoutMs: 60_000 } })
    if (value === undefined) throw new Error(`the attempts broke the run: ${explanation}`)
    for (const [name, each] of Object.entries(value as Record<string, Found>)) found.set(name, each)
  }
  return found
}

test.for(languages)('there are enough attempts with a control for %s', () => {
  expect(new Set(attempts.map(({ name }) => name)).size).toBe(attempts.length)
  expect(attempts.filter((attempt) => hasControl(attempt, bait)).length).toBeGreaterThanOrEqual(60)
})

for (const wall of walls) {
  const under = await startBehind(wall, settings)
  const fitting = attempts.filter(({ refusedBy }) => wall.refuses.includes(refusedBy))
  describe.skipIf(under === undefined)(`behind ${wall.name}`, () => {
    afterAll(() => under?.stop())
    describe.for(languages)('%s', (language) => {
      let found: Map<string, Found>
      beforeAll(async () => {
        found = await makeAll(under!, language, fitting)
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
    const fitting = attempts.filter((attempt) => hasControl(attempt, bait))
    let found: Map<string, Found>
    beforeAll(async () => {
      found = await makeAll(under, language, fitting)
    }, 60_000)

    test.for(fitting.map(({ name }) => name))('process code %s', (name) => {
      expect(found.get(name)).toMatchObject({ got: true })
    })
  })
})
