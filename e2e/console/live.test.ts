import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Limits } from '../client/records.ts'
import { at, cutStream, openBrowser, subject, visit } from './browser.ts'

const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

const start = async (name: string): Promise<string> => {
  const answer = await client.post<{ executionId: string }>(`/processes/${subject.scene.greeting.id}/execute`, {
    parameters: { name },
  })
  return answer.body.executionId
}

test('seven tabs of one browser work, all live by the one stream that they share', async () => {
  const { context, page, complaints } = await visit(browser)
  const tabs = [page]
  for (let more = 0; more < 6; more += 1) tabs.push(await context.newPage())
  for (const tab of tabs) {
    await tab.goto(at('/executions'))
    await tab.getByRole('table').first().waitFor()
  }
  const inUse = async () =>
    (await client.get<Limits>('/limits')).body.limits.find(({ name }) => name === 'streams')?.inUse
  await expect.poll(inUse).toBe(1)

  const began = performance.now()
  const id = await start('for all tabs')
  await Promise.all(tabs.map((tab) => tab.locator(`a[href*="${id}"]`).first().waitFor()))
  console.log(`seven tabs show a start after ${Math.round(performance.now() - began)} ms`)
  // The browser has a connection left for what a page reads.
  await tabs[6]?.getByRole('link', { name: 'Variables' }).click()
  await tabs[6]?.getByRole('heading', { name: 'Variables', level: 1 }).waitFor()
  await tabs[6]?.getByText('GREETING', { exact: true }).waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('a page says since when changes have not come, and catches up when they come again', async () => {
  const visited = await visit(browser)
  const { context, page } = visited
  const mend = await cutStream(visited)
  await page.goto(at('/executions'))
  await page.getByRole('table').first().waitFor()
  const bar = page.getByText(/Changes have not come since/)
  await bar.waitFor()
  const id = await start('meanwhile')
  expect(await page.locator(`a[href*="${id}"]`).count()).toBe(0)
  await mend()
  await page.locator(`a[href*="${id}"]`).first().waitFor()
  await bar.waitFor({ state: 'detached' })
  await context.close()
})

test('when the browser is online again the stream is opened anew', async () => {
  const visited = await visit(browser)
  const { context, page } = visited
  await page.addInitScript(() => Reflect.deleteProperty(window, 'SharedWorker'))
  let opened = 0
  page.on('request', (request) => (opened += request.url().endsWith('/rest/events') ? 1 : 0))
  await page.goto(at('/executions'))
  await expect.poll(() => opened).toBe(1)
  const goOnline = async () => {
    await page.evaluate(() => window.dispatchEvent(new Event('online')))
    return opened
  }
  await expect.poll(goOnline).toBeGreaterThan(1)
  await context.close()
})

test('who signs in again in one tab has the others back, too', async () => {
  const { context, page } = await visit(browser, { isStranger: true })
  await page.goto(at('/variables'))
  await page.getByLabel('API token').fill(subject.apiToken)
  await page.keyboard.press('Enter')
  await page.getByText('GREETING', { exact: true }).waitFor()
  const other = await context.newPage()
  await other.goto(at('/variables'))
  await other.getByText('GREETING', { exact: true }).waitFor()
  const cover = other.getByRole('dialog', { name: 'Your session has ended' })
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API token').waitFor()
  await cover.waitFor()
  await page.getByLabel('API token').fill(subject.apiToken)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  await cover.waitFor({ state: 'detached' })
  await context.close()
})
