import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import { at, openBrowser, picture, subject, visit } from './browser.ts'

const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

const beyond = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

test.each([360, 700])('at %i pixels the list of executions fits, whatever a process is called', async (width) => {
  const made = await client.post('/processes', { name: `${'Long'.repeat(50)} ${width}`, sourceCode: 'return 1' })
  expect(made.status, made.text).toBe(201)
  const { context, page } = await visit(browser, { width })
  await page.goto(at('/executions'))
  await page.getByRole('option', { name: new RegExp(`^${'Long'.repeat(50)} ${width}`) }).waitFor({ state: 'attached' })
  await picture(page, `long-name-${width}`)
  expect(await beyond(page)).toBeLessThanOrEqual(0)
  await context.close()
})

test.each(['/executions', '', '/usage'])('%s follows a window that becomes narrower, with its charts', async (path) => {
  const { context, page } = await visit(browser, { width: 1440 })
  await page.goto(at(path))
  await page.locator('canvas').first().waitFor()
  for (const width of [1000, 500]) {
    await page.setViewportSize({ width, height: 900 })
    await expect.poll(() => beyond(page), { timeout: 5000 }).toBeLessThanOrEqual(0)
    await picture(page, `narrowed${path.replace('/', '-')}-${width}`)
  }
  await context.close()
})
