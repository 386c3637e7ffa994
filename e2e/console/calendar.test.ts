import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Process, Team } from '../client/records.ts'
import { at, openBrowser, picture, subject, visit } from './browser.ts'

const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

/** The last Sunday of a month of the next year, when the clocks of Europe change. */
function lastSunday(month: number): string {
  const last = new Date(Date.UTC(new Date().getUTCFullYear() + 1, month, 0))
  last.setUTCDate(last.getUTCDate() - last.getUTCDay())
  return last.toISOString().slice(0, 10)
}

const weeks = [
  {
    when: 'leaves an hour out',
    day: lastSunday(3),
    note: '02:00–03:00 is left out',
    hour: 'The clocks leave this out',
  },
  {
    when: 'has an hour twice',
    day: lastSunday(10),
    note: '02:00–03:00 comes twice',
    hour: 'The clocks show this twice',
  },
]

test('the weeks in which the clocks change mark the hour that is left out or comes twice, and what fires then', async () => {
  const made = await client.post<Process>('/processes', { name: 'at a clock change', sourceCode: 'return 1' })
  expect(made.status, made.text).toBe(201)
  const zoneBefore = (await client.get<Team>('/team')).body.zoneId
  const setZone = async (zoneId: string) => expect((await client.patch('/team', { zoneId })).status).toBe(200)
  await setZone('Europe/Berlin')
  const scheduled = await client.post(`/processes/${made.body.id}/schedule`, { cron: '30 2 * * *' })
  expect(scheduled.status, scheduled.text).toBe(201)
  const { context, page, complaints } = await visit(browser, { zone: 'America/New_York' })
  for (const { when, day, note, hour } of weeks) {
    await page.goto(at(`/schedules?view=calendar&day=${day}`))
    const week = page.getByRole('table', { name: 'Firings by day and hour' })
    const heading = week.getByRole('columnheader').filter({ has: page.locator(`time[datetime="${day}"]`) })
    await heading.getByText(note).waitFor()
    expect(await week.getByText(/is left out|comes twice/).count(), when).toBe(1)
    expect(await week.getByTitle(hour, { exact: true }).count(), when).toBe(1)
    await week.getByText('at-a-clock-change').first().waitFor()
    await picture(page, `calendar-${day}`)
    // Once on each of the seven days, that of the change not left out and not twice.
    expect(await week.getByText('at-a-clock-change').count(), when).toBe(7)
  }
  await setZone(zoneBefore)
  expect(complaints).toEqual([])
  await context.close()
})

test('a time of another zone than that of who looks is told with both, and a day beyond all calendars is today', async () => {
  const made = await client.post<Process>('/processes', { name: 'once in berlin', sourceCode: 'return 1' })
  expect(made.status, made.text).toBe(201)
  const zoneBefore = (await client.get<Team>('/team')).body.zoneId
  const setZone = async (zoneId: string) => expect((await client.patch('/team', { zoneId })).status).toBe(200)
  await setZone('Europe/Berlin')
  const scheduled = await client.post(`/processes/${made.body.id}/schedule`, { dateTime: '2031-07-01T09:00:00' })
  expect(scheduled.status, scheduled.text).toBe(201)
  const { context, page, complaints } = await visit(browser, { zone: 'America/New_York' })
  const both = /Tue,? 1 Jul 2031,? 09:00:00 in Europe\/Berlin, Tue,? 1 Jul 2031,? 03:00:00 here/
  await page.goto(at('/processes/once-in-berlin/schedules'))
  await page.getByText(both).first().waitFor()
  await page.goto(at('/schedules'))
  await page.getByText(both).waitFor()
  await page.goto(at(''))
  await page.getByText('Times of America/New_York').waitFor()
  for (const day of ['9999-12-31', '0001-01-01']) {
    await page.goto(at(`/schedules?view=calendar&day=${day}`))
    await page.locator('[aria-current=date]').first().waitFor()
  }
  await setZone(zoneBefore)
  expect(complaints).toEqual([])
  await context.close()
})
