import type { Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { runAdmin } from '../system/system.ts'
import { openBrowser, subject, visit } from './browser.ts'
import { Journey } from './journey.ts'

test('a link signs in once, and one click runs a sample whose log comes live', async () => {
  expect(await runAdmin(['teams', 'create', 'fresh'], subject.env)).toMatchObject({ code: 0 })
  const { stdout } = await runAdmin(['--json', 'console', 'link', 'fresh'], subject.env)
  const { url } = JSON.parse(stdout) as { url: string }
  const browser = await openBrowser()
  try {
    const { page, complaints } = await visit(browser, { isStranger: true })
    const journey = new Journey(page, '0 from the link to a running sample')
    await page.goto(url)
    const sample = page.getByRole('button', { name: 'Run a sample' })
    await journey.reach(sample)
    await journey.press('Enter')
    await journey.sees('8 orders are to be checked')
    await journey.sees('Order 1 is on its way')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Sample')
    expect(await page.getByText('Order 8 is late').count()).toBe(0)
    await page.getByText('Order 8 is late').waitFor()
    expect(journey.acts).toBe(1)
    expect(complaints).toEqual([])
    expect(page.url()).not.toContain('code')

    const late = await visit(browser, { isStranger: true })
    await late.page.goto(url)
    await late.page.getByText('This link signs nobody in any more').waitFor()
    await late.page.getByLabel('API token').waitFor()
  } finally {
    await browser.close()
  }
})

test('a link that the service could not take is taken at the second attempt', async () => {
  const { stdout } = await runAdmin(['--json', 'console', 'link', subject.team], subject.env)
  const { url } = JSON.parse(stdout) as { url: string }
  const browser = await openBrowser()
  try {
    const { page } = await visit(browser, { isStranger: true })
    const cut = (route: Route) => (route.request().method() === 'POST' ? route.abort() : route.continue())
    await page.route('**/session', cut)
    await page.goto(url)
    await page.getByText("The service can't be reached").waitFor()
    await page.unroute('**/session', cut)
    await page.getByRole('button', { name: 'Try the link again' }).click()
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  } finally {
    await browser.close()
  }
})
