import { silentLogger, until } from '@automation/testing'
import { onTestFinished, expect, test } from 'vitest'
import { TeamLimitRows, type TeamLimitAnswer } from '../src/team-limit-rows.ts'

const limits = [{ team: 'demo', name: 'running', value: 3n }]
const suspensions = [{ team: 'demo', reason: 'unpaid', purging: false }]

async function rowsOf(answers: () => TeamLimitAnswer): Promise<TeamLimitRows> {
  const rows = new TeamLimitRows(silentLogger, async () => answers())
  onTestFinished(() => rows.stop())
  await rows.start()
  return rows
}

test('nothing new may run while nobody knows whether it may', async () => {
  let isAway = true
  const rows = await rowsOf(() => {
    if (isAway) throw new Error('away')
    return { revision: 1n, limits: [], tellsSuspensions: true }
  })
  expect(() => rows.requireActive('demo')).toThrow(expect.objectContaining({ kind: 'unavailable' }))
  isAway = false
  await until(() => rows.isKnown)
  rows.requireActive('demo')
})

test('a catalog of the release before, which knows of no suspensions, ends none', async () => {
  let answer: TeamLimitAnswer = { revision: 1n, limits: [], suspensions, tellsSuspensions: true }
  const rows = await rowsOf(() => answer)
  await until(() => rows.suspensionOf('demo') !== undefined)
  answer = { revision: 2n, limits }
  await until(() => rows.find('demo', 'running') === 3)
  expect(() => rows.requireActive('demo')).toThrow(expect.objectContaining({ code: 'team_suspended' }))
  answer = { revision: 2n, limits, tellsSuspensions: true }
  await until(() => rows.suspensionOf('demo') === undefined)
})
