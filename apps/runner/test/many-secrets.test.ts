import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { lines } from './scripted-replica.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner()
})
afterAll(() => under.stop())

// Some 8 MB of them.
const secrets: [what: string, values: string[]][] = [
  ['long ones', Array.from({ length: 1900 }, () => randomBytes(2000).toString('hex'))],
  [
    'ones of many lines',
    Array.from({ length: 120 }, () => randomBytes(28_000).toString('hex').replace(/.{8}/g, '$&\n')),
  ],
  ['short ones', Array.from({ length: 10_000 }, () => randomBytes(30).toString('base64'))],
]

test.for(secrets)(
  'drafts of a team with many secrets, %s, hold up no other',
  { timeout: 60_000 },
  async ([, values]) => {
    const variables = values.map((value, at) => ({ key: `V${at}`, value, isSensitive: true }))
    const heldUpMs = longestHoldUp()
    const drafts = [1, 2, 3].map((at) =>
      under.replica.run(`console.log('a', svc.env.V${at}.split('\\n')[0]); return ${at}`, {
        spec: { team: 'secretive', variables },
      }),
    )
    const others = Array.from({ length: 20 }, (_, at) => under.replica.run(`return ${at}`, { spec: { team: 'other' } }))
    expect((await Promise.all(others)).map(({ value }) => value)).toEqual(others.map((_, at) => at))
    for (const draft of await Promise.all(drafts)) expect(lines(draft.log)).toEqual(['INFO a ******'])
    expect(heldUpMs()).toBeLessThan(1000)
  },
)

/** For how long this thread computed at most without a turn for timers, until it is asked; others' load does not count. */
function longestHoldUp(): () => number {
  let longest = 0
  let before = process.threadCpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    longest = Math.max(longest, (user + system) / 1000)
    before = process.threadCpuUsage()
  }, 10)
  return () => {
    clearInterval(timer)
    return longest
  }
}

test('a run that is killed while its mask is made never begins', async () => {
  const variables = secrets[0]![1].map((value, at) => ({ key: `W${at}`, value: `${value}.`, isSensitive: true }))
  const { id } = under.replica.hand('console.log("began")', { spec: { team: 'secretive', variables } })
  under.replica.kill(id)
  const { value } = await under.replica.run('return 1', { spec: { team: 'secretive', variables } })
  expect([value, under.replica.logOf(id)]).toEqual([1, []])
})
