import { randomBytes } from 'node:crypto'
import { sourceOf } from './attempt.ts'
import { runAttempts, testAtLevels } from './at-levels.ts'
import { attemptsOnRuns } from './on-runs.ts'
import { startVictim } from './victims.ts'

// Attempts on the things of a run of another team, in a run of another process.
await testAtLevels({
  settings: { ISOLATION_MANY_TEAMS: 'true' },
  attempts: attemptsOnRuns,
  controls: attemptsOnRuns,
  async makeAll(under, language, attempts, level) {
    const mark = `mark-${randomBytes(12).toString('hex')}`
    // A runner behind `pod` serves one team: there it is another run of the same one.
    const { end, ...probe } = await startVictim(under, mark, level === 'pod' ? 'demo' : 'others')
    const found = await runAttempts(under, language, sourceOf(language, attempts, { ...probe, mark }))
    end()
    return new Map(found)
  },
})
