import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import { at, openBrowser, subject, visit } from './browser.ts'

const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })

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

test.each(['12345678901234567890', '1e3', '1.50', 'true', '{"a":1}'])(
  'a link that searches %s searches these very characters',
  async (text) => {
    const { context, page } = await visit(browser)
    const asked = page.waitForRequest((request) => new URL(request.url()).searchParams.get('q') === text)
    await page.goto(at(`/executions?q=${encodeURIComponent(text)}`))
    await asked
    expect(await page.getByRole('searchbox').inputValue()).toBe(text)
    expect(new URL(page.url()).searchParams.get('q')).toBe(text)
    await context.close()
  },
)

test('Esc on an execution leads back to the list as it was filtered', async () => {
  const { context, page } = await visit(browser)
  await page.goto(at('/executions?status=ERROR'))
  await page.getByRole('link', { name: subject.scene.failing.name }).first().click()
  await page.getByRole('button', { name: 'Rerun…' }).waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL(at('/executions?status=ERROR'))
  await context.close()
})

test('a link to a file opens it, wherever it stands in its folder', async () => {
  for (let number = 100; number <= 301; number += 1) {
    const stored = await client.call('POST', '/storage/objects', {
      query: { filename: `many/f${number}.txt` },
      body: `this is ${number}`,
      headers: { 'content-type': 'application/octet-stream' },
    })
    expect(stored.status, stored.text).toBe(204)
  }
  const { context, page } = await visit(browser)
  await page.goto(at(`/storage?prefix=many/&object=${encodeURIComponent('many/f301.txt')}`))
  await page.getByRole('dialog').getByText('this is 301').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await context.close()
})
