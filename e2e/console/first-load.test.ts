import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { at, openBrowser, subject, visit } from './browser.ts'

const WAIT = { timeout: 15_000 }

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('the first page asks once who is signed in, before its scripts run, and at once for what its cards show', async () => {
  const { context, page, complaints } = await visit(browser)
  const order: string[] = []
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url())
    if (origin === subject.origin) order.push(`asks ${pathname}`)
  })
  const rest = `/api/${subject.team}/rest`
  // The pages' scripts come only when the session has been asked for, and the first answer only when the cards have asked.
  const askedFor = async (path: string) => {
    await expect.poll(() => order, WAIT).toContain(`asks ${path}`)
  }
  await page.route('**/assets/index-*.js', async (route) => {
    await askedFor('/session')
    await route.continue()
  })
  await page.route('**/rest/processes/summaries?*', async (route) => {
    await askedFor(`${rest}/limits`)
    await askedFor(`${rest}/executions/statistics`)
    await route.continue()
  })
  await page.goto(at(''))
  await page.getByRole('heading', { name: 'Last failures' }).waitFor()
  expect(order.filter((one) => one === 'asks /session')).toEqual(['asks /session'])
  expect(complaints).toEqual([])
  await context.close()
})
