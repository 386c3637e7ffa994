import { randomBytes } from 'node:crypto'
import { sourceOf } from './attempt.ts'
import { runAttempts, testAtLevels } from './at-levels.ts'
import { attemptsOnRuns } from './on-runs.ts'
import { startVictim } from './victims.ts'

// Attempts on the things of a run of another team, in a run of another process.
await testAtLevels({
  settings: {},
  attempts: attemptsOnRuns,
  controls: attemptsOnRuns,
  async makeAll(under, language, attempts, level) {
    const mark = `mark-${randomBytes(12).toString('hex')}`
    // Without networks of their own all runs are of one team: there it is another run of the same one.
    const { end, ...probe } = await startVictim(under, mark, /own network|none/.test(level) ? 'others' : 'demo')
    const found = await runAttempts(under, language, sourceOf(language, attempts, { ...probe, mark }))
    end()
    return new Map(found)
  },
})
