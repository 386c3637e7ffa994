import { serviceContext, userContext } from '@automation/testing'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { expect } from 'vitest'
import { demo, schedulerTest, type SchedulerUnderTest } from './scheduler-under-test.ts'

/** The longest that a call of another team has waited meanwhile, as a part of how long the work took. */
async function longestWait(system: SchedulerUnderTest, work: Promise<unknown>): Promise<number> {
  const neighbour = userContext('neighbour')
  const from = performance.now()
  let isOver = false
  const over = work.finally(() => (isOver = true))
  let longest = 0
  while (!isOver) {
    const asked = performance.now()
    await system.schedules.getLimits({}, neighbour)
    longest = Math.max(longest, performance.now() - asked)
  }
  await over
  return longest / (performance.now() - from)
}

schedulerTest('calendars of thousands of schedules hold up no other team', async ({ system }) => {
  const id = await system.schedule({ cron: '0 0 29 2 *' })
  await system.copies(id, 2999, `jsonb_build_object('cron', format('%s %s 0 29 2 *', n % 60, n / 60))`)
  const span = { from: new Date('2096-03-01Z'), to: new Date('2103-12-31Z') }
  const request = { from: timestampFromDate(span.from), to: timestampFromDate(span.to) }
  const calendars = Array.from({ length: 3 }, () => system.schedules.listFiringsBetween(request, demo))
  expect(await longestWait(system, Promise.all(calendars))).toBeLessThan(0.25)
  for (const { firings } of await Promise.all(calendars)) expect(firings).toEqual([])
})

schedulerTest('a new zone for ten thousand schedules holds up no other team', async ({ system }) => {
  // Times that Berlin's clocks leave out each year: to know that none comes takes years of looks.
  const id = await system.schedule({ cron: '0 2-2/1 * 3 SUNL' })
  await system.copies(
    id,
    9999,
    `jsonb_build_object('cron', format('%s %s 2-2/%s * 3 SUNL', n % 60, n / 60 % 60, 1 + n / 3600))`,
  )
  const zone = { team: 'demo', zoneId: 'Europe/Berlin', revision: BigInt(Date.now()) * 1_000_000n }
  const noted = system.effects.noteZone(zone, serviceContext('process-catalog', 'demo'))
  expect(await longestWait(system, noted)).toBeLessThan(0.25)
  const { rows } = await system.sql.query('SELECT count(*)::integer FROM schedules WHERE next_at IS NULL')
  expect(rows).toEqual([{ count: 10_000 }])
})
