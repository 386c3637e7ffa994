import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { at, openBrowser, visit } from './browser.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

/** Pages with the filter whose text is in the address, and what it is called there. */
const filters = [
  { path: '/processes', label: 'Filter processes', name: 'q' },
  { path: '/storage?tab=datastore', label: 'Keys that begin with', name: 'key' },
  { path: '/modules', label: 'Filter modules', name: 'q' },
  { path: '/variables', label: 'Filter variables', name: 'q' },
  { path: '/audit', label: 'Id of what it was done to', name: 'entity' },
]

test.each(filters)('a filter of $path takes keys where the caret is, and follows the address', async (filter) => {
  const { context, page } = await visit(browser)
  await page.goto(at(filter.path))
  const field = page.getByRole('searchbox', { name: filter.label })
  await field.focus()
  await page.keyboard.type('abc')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.type('xyz')
  expect(await field.inputValue()).toBe('axyzbc')
  const inAddress = () => new URL(page.url()).searchParams.get(filter.name)
  await expect.poll(inAddress).toBe('axyzbc')
  await page.getByRole('link', { name: 'Tokens', exact: true }).click()
  await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor()
  await page.goBack()
  await expect.poll(() => field.inputValue()).toBe('axyzbc')
  await context.close()
})

test('the field of a filter empties as the filter is taken away elsewhere', async () => {
  const { context, page } = await visit(browser)
  await page.goto(at('/processes'))
  const field = page.getByRole('searchbox', { name: 'Filter processes' })
  await field.fill('none is called so')
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  await expect.poll(() => field.inputValue()).toBe('')
  await context.close()
})
