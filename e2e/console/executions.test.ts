import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { at, openBrowser, picture, subject, visit } from './browser.ts'

const { failed, failing, finished } = subject.scene

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('the source of a failed execution has the failing line marked, and the error leads to it', async () => {
  const { context, page } = await visit(browser)
  const marked = page.locator('.cm-marked')
  await page.goto(at(`/executions/${failed}?tab=source`))
  await marked.waitFor()
  expect(await marked.allTextContents()).toEqual(['return order.total'])
  await picture(page, 'source-marked')
  await page.goto(at(`/executions/${failed}`))
  await page
    .getByRole('region', { name: 'Error' })
    .getByRole('link', { name: `${failing.slug}.js:3` })
    .click()
  await marked.waitFor()
  expect(await marked.allTextContents()).toEqual(['return order.total'])
  await context.close()
})

test('on a phone an execution takes at most four lines of the list, and what is compared is read in whole words', async () => {
  const { context, page } = await visit(browser, { width: 360 })
  await page.goto(at('/executions'))
  const row = page.getByRole('table', { name: 'Executions, newest first' }).locator('tbody tr').first()
  await row.waitFor()
  const height = (await row.boundingBox())?.height ?? Infinity
  const lineHeight = await row.evaluate((element) => parseFloat(getComputedStyle(element).lineHeight))
  await picture(page, 'executions-phone')
  // Four lines and the space around them.
  expect(height).toBeLessThan(4 * lineHeight + 36)
  await page.goto(at(`/executions/compare?a=${finished}&b=${failed}`))
  const name = page.getByRole('link', { name: /^Failing order/ })
  await name.waitFor()
  await picture(page, 'compare-phone')
  // Its two words and the end of its id.
  expect((await name.boundingBox())!.height).toBeLessThan(2.5 * lineHeight)
  await context.close()
})
