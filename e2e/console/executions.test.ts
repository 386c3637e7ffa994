import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { at, openBrowser, picture, subject, visit } from './browser.ts'

const { failed, failing, finished } = subject.scene

const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })

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

test('lines at an error show characters that are not seen, and stand in the order in which they are run', async () => {
  const { context, page } = await visit(browser)
  const sourceCode = "const isAdmin = 'user\u202e \u2066'\nthrow new Error(['אחד', 'שתיים'])"
  const { slug } = (await client.post<Process>('/processes', { name: 'Unseen', sourceCode })).body
  const { executionId } = (await client.post<{ executionId: string }>(`/processes/${slug}/execute`, {})).body
  await page.goto(at(`/executions/${executionId}`))
  const lines = page.getByRole('region', { name: 'The source at the error' })
  await lines.getByTitle('Control character U+202E').waitFor()
  await picture(page, 'source-unseen')
  const placeOf = async (text: string) => (await lines.getByText(text, { exact: true }).boundingBox())!.x
  expect(await placeOf('אחד')).toBeLessThan(await placeOf('שתיים'))
  await context.close()
})

test('where the source was changed since, an execution shows the one that ran, as long as it is kept, and a rerun what it runs', async () => {
  const { id, slug } = (await client.post<Process>('/processes', { name: 'Rewritten', sourceCode: 'return 1' })).body
  const version = (await client.post<{ id: string }>(`/processes/${id}/versions`, { tag: 'v7' })).body
  const run = async (input: object) =>
    (await client.post<{ executionId: string }>(`/processes/${slug}/execute`, input)).body.executionId
  const [ofSource, ofVersion] = [await run({}), await run({ tag: 'v7' })]
  expect(version.id).toBeDefined()
  await client.patch(`/processes/${id}`, { sourceCode: 'return 2' })

  const { context, page } = await visit(browser)
  await page.goto(at(`/executions/${ofSource}?tab=source`))
  await page.getByText('return 1').waitFor()
  for (let number = 3; number <= 102; number += 1)
    await client.patch(`/processes/${id}`, { sourceCode: `return ${number}` })
  await page.reload()
  await page.getByRole('heading', { name: 'The source that ran is not kept' }).waitFor()
  await picture(page, 'source-not-kept')
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Rerun…' }).click()
  await page.getByText('Empty: the current source', { exact: true }).waitFor()
  await page.goto(at(`/executions/${ofVersion}`))
  await page.getByRole('button', { name: 'Rerun…' }).click()
  await page.getByText('Empty: the version that ran (v7)').waitFor()
  await context.close()
})

test('a number beyond those that JavaScript tells apart comes through a run, a rerun and a changed schedule as it was', async () => {
  const big = '9007199254740993'
  const { id, slug } = (await client.post<Process>('/processes', { name: 'Large numbers', sourceCode: 'return 1' }))
    .body
  const input = { parameters: { order: Number(big), note: 'first' } }
  const exact = (value: object) => ({
    body: JSON.stringify(value).replace(String(Number(big)), big),
    headers: { 'content-type': 'application/json' },
  })
  const timed = await client.call<{ id: string }>(
    'POST',
    `/processes/${id}/schedule`,
    exact({ cron: '0 5 1 1 *', input }),
  )
  const started = await client.call<{ executionId: string }>('POST', `/processes/${id}/execute`, exact(input))
  const { context, page } = await visit(browser)

  await page.goto(at(`/executions/${started.body.executionId}`))
  await page.getByText(big).waitFor()
  await page.getByRole('button', { name: 'Rerun…' }).click()
  const dialog = page.getByRole('dialog')
  const field = dialog.getByRole('textbox', { name: 'Parameters' })
  await field.fill((await field.inputValue()).replace('first', 'second'))
  await dialog.getByRole('button', { name: 'Run with these parameters' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => newest(id)).toContain('second')
  expect(await newest(id)).toContain(big)

  await page.goto(at(`/processes/${slug}/edit`))
  const parameters = page.getByRole('textbox', { name: 'Parameters as JSON' })
  await parameters.fill(`{"order": ${big}, "note": "third"}`)
  await page.keyboard.press('Control+Enter')
  await expect.poll(() => newest(id)).toContain('third')
  expect(await newest(id)).toContain(big)

  await page.goto(at(`/processes/${slug}/schedules`))
  await page.getByRole('button', { name: 'Change' }).click()
  await dialog.getByLabel('Comment').fill('each year')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  const { text } = await client.get(`/schedules/${timed.body.id}`)
  expect(text).toContain('each year')
  expect(text).toContain(big)
  await context.close()
})

/** The newest execution of a process, as the service tells it. */
const newest = async (processId: string): Promise<string> =>
  (await client.get('/executions', { processId, limit: 1 })).text

test('a large value is read once, whatever is typed beside it, and a long text in it is shown piece by piece', async () => {
  const sourceCode = 'return "x".repeat(1_000_000)'
  const { slug } = (await client.post<Process>('/processes', { name: 'Large value', sourceCode })).body
  const { context, page } = await visit(browser)
  await page.addInitScript(() => {
    const parse = JSON.parse
    Object.assign(window, { largeParsed: 0 })
    JSON.parse = (text: string, ...rest: []) => {
      if (text.length > 1_000_000 && text.startsWith('"')) Object.assign(window, { largeParsed: largeParsed() + 1 })
      return parse(text, ...rest) as unknown
    }
    const largeParsed = () => (window as unknown as { largeParsed: number }).largeParsed
  })
  const times = () => page.evaluate(() => (window as unknown as { largeParsed: number }).largeParsed)
  await page.goto(at(`/processes/${slug}/edit`))
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const more = page.getByRole('button', { name: /of 1000000 characters/ })
  await more.waitFor()
  const before = await times()
  expect(before).toBeGreaterThan(0)
  await page.getByRole('textbox', { name: /^Source of/ }).focus()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('// hello', { delay: 20 })
  await page.getByText('Unsaved, kept in this browser').waitFor()
  expect(await times()).toBe(before)
  await more.click()
  await expect.poll(() => page.getByText(/^"x{102000}"$/).count()).toBe(1)
  expect(await more.count()).toBe(1)
  await context.close()
})

test('a name that turns the direction of text turns nothing beside it', async () => {
  const name = '\u202Edesrever'
  const { id } = (await client.post<Process>('/processes', { name, sourceCode: 'return 1' })).body
  await client.post(`/processes/${id}/execute`, { parameters: { straight: 1 } })
  const { context, page } = await visit(browser)
  await page.goto(at('/executions'))
  const isStraight = page.getByText('{"straight":1}').evaluate((element) => {
    const text = document.createRange()
    const leftOf = (from: number) => {
      text.setStart(element.firstChild as Text, from)
      text.setEnd(element.firstChild as Text, from + 1)
      return text.getBoundingClientRect().left
    }
    return leftOf(0) < leftOf(5)
  })
  expect(await isStraight).toBe(true)
  await context.close()
})

test.each([
  ['an execution', () => `/executions/${finished}`, 'Log'],
  ['a module', () => `/modules/${subject.scene.moduleId}`, 'Source'],
  ['a sandbox', () => `/sandboxes/${subject.scene.sandbox.id}`, 'Overview'],
])('an address with a tab that there is none of shows the first one: %s', async (_, path, first) => {
  const { context, page } = await visit(browser)
  await page.goto(at(`${path()}?tab=nonsense`))
  const tab = page.getByRole('link', { name: first, exact: true })
  await tab.waitFor()
  expect(await tab.getAttribute('aria-current')).toBe('page')
  await context.close()
})

test('what has not finished is called failed, and a chart beside a search says that it counts without it', async () => {
  const { context, page } = await visit(browser)
  await page.goto(at(''))
  await page
    .getByRole('link', { name: /^\d+ failed$/ })
    .first()
    .waitFor()
  await page.getByRole('columnheader', { name: 'Failed' }).first().waitFor({ state: 'attached' })
  expect(await page.getByText(/not finished/i).count()).toBe(0)
  await page.goto(at('/executions?q=4711'))
  await page.getByText(/of them failed; counted without the search/).waitFor()
  await picture(page, 'executions-searched')
  await page.goto(at('/executions?status=FINISHED&trial=true'))
  await page.getByText(/of them failed; counted without Status, Trials/).waitFor()
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
  await page.getByText('Status all').click()
  const choices = page.getByRole('group', { name: 'Status' })
  await picture(page, 'executions-phone-status')
  const { x = 0, width = Infinity } = (await choices.boundingBox()) ?? {}
  expect(x).toBeGreaterThanOrEqual(0)
  expect(x + width).toBeLessThanOrEqual(360)
  await page.goto(at(`/executions/compare?a=${finished}&b=${failed}`))
  const name = page.getByRole('link', { name: /^Failing order/ })
  await name.waitFor()
  await picture(page, 'compare-phone')
  // Its two words and the end of its id.
  expect((await name.boundingBox())!.height).toBeLessThan(2.5 * lineHeight)
  await context.close()
})

test('an id leads to the page of its team, unless a team does not answer: then that is said', async () => {
  const { context, page } = await visit(browser)
  const problem = { title: 'Too many', status: 429, detail: 'Too many calls', code: 'too_many', requestId: 'r-1' }
  const asked = `**/rest/executions/${finished}`
  await page.route(asked, (route) =>
    route.fulfill({ status: 429, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  )
  await page.goto(`${subject.origin}/x/${finished}`)
  await page.getByRole('alert').getByText('Too many calls').waitFor()
  await page.unroute(asked)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.waitForURL(at(`/executions/${finished}`))
  await context.close()
})

test('of a team with more processes than a page has, all can be chosen', async () => {
  const { context, page } = await visit(browser)
  await page.route(/\/rest\/processes\?.*limit=1000/, async (route) => {
    const url = new URL(route.request().url())
    const isFirst = url.searchParams.get('page') !== '1'
    url.searchParams.set('page', '0')
    const response = await route.fetch({ url: url.href })
    const { data, ...about } = (await response.json()) as { data: unknown[] }
    await route.fulfill({ response, json: { ...about, data: isFirst ? [] : data, hasNextPage: isFirst } })
  })
  await page.goto(at('/executions'))
  const choice = page.getByLabel('Process').getByRole('option', { name: 'Failing order' })
  await choice.waitFor({ state: 'attached' })
  // One that is asked again must not be answered behind the end of its page.
  await page.unrouteAll({ behavior: 'wait' })
  await context.close()
})

test('a row that no longer fits the filters leaves the list', async () => {
  const source = { name: 'Runs on', sourceCode: 'await new Promise((resolve) => setTimeout(resolve, 600_000))' }
  const { slug } = (await client.post<Process>('/processes', source)).body
  const { executionId } = (await client.post<{ executionId: string }>(`/processes/${slug}/execute`, {})).body
  const { context, page } = await visit(browser)
  await page.goto(at('/executions?status=RUNNING'))
  const row = page.locator(`tbody a[href*="${executionId}"]`).first()
  await row.waitFor()
  await client.call('PUT', `/executions/${executionId}/kill`)
  await row.waitFor({ state: 'detached' })
  await context.close()
})

test('what failed in the last day is listed of that day alone', async () => {
  const { context, page } = await visit(browser)
  await page.goto(at(''))
  const links = [
    page.getByRole('link', { name: /^\d+ failed$/ }),
    page.getByRole('region', { name: 'Failing processes, 24 hours' }).getByRole('link', { name: 'Failing order' }),
  ]
  for (const link of links) {
    await link.first().waitFor()
    const { searchParams } = new URL((await link.first().getAttribute('href')) ?? '', subject.origin)
    const ageMs = Date.now() - Date.parse(searchParams.get('from') ?? '')
    expect(ageMs).toBeGreaterThan(22 * 3_600_000)
    expect(ageMs).toBeLessThan(26 * 3_600_000)
  }
  await context.close()
})
