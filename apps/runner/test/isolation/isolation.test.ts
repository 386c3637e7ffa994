import { afterAll, expect, test } from 'vitest'
import { hasControl, sourceOf, type Found } from './attempt.ts'
import { attempts } from './attempts.ts'
import { openProbe } from './escape-probe.ts'
import { languages, runAttempts, testAtLevels } from './at-levels.ts'

const { probe, remove } = await openProbe()
afterAll(remove)

const settings = { RUNNER_CLOSED_PORTS: probe.servicePorts.join(), ISOLATION_MANY_TEAMS: 'true' }
const controls = attempts.filter((attempt) => hasControl(attempt, probe))
const inSlices = 3

test.for(languages)('there are enough attempts with a control for %s', () => {
  expect(new Set(attempts.map(({ name }) => name)).size).toBe(attempts.length)
  expect(controls.length).toBeGreaterThanOrEqual(60)
})

await testAtLevels({
  settings,
  attempts,
  controls,
  async makeAll(under, language, all) {
    const found = new Map<string, Found>()
    for (let at = 0; at < inSlices; at += 1) {
      const slice = all.filter((_each, index) => index % inSlices === at)
      for (const [name, each] of await runAttempts(under, language, sourceOf(language, slice, probe)))
        found.set(name, each)
    }
    return found
  },
})
