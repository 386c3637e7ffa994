import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { runAdmin } from '../system/system.ts'
import { at, openBrowser, picture, subject, visit, withoutStream } from './browser.ts'
import { sessionBy } from './session-by.ts'
import { untilShown } from './until.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

const variables = '**/rest/variables*'

test('a page that loads shows a skeleton, and never that there is nothing before the answer', async () => {
  const { context, page } = await visit(browser)
  let answer = (): void => undefined
  const held = new Promise<void>((resolve) => (answer = resolve))
  await page.route(variables, async (route) => {
    await held
    await route.continue()
  })
  await page.goto(at('/variables'))
  await page.locator('[role=status] span:not(.visually-hidden)').first().waitFor()
  expect(await page.getByText('No variables yet').count()).toBe(0)
  answer()
  await page.getByText('GREETING').waitFor()
  await context.close()
})

test('a chart tells no figures before its answer', async () => {
  const { context, page } = await visit(browser)
  let answer = (): void => undefined
  const held = new Promise<void>((resolve) => (answer = resolve))
  await page.route('**/rest/executions/statistics*', async (route) => {
    await held
    await route.continue()
  })
  await page.goto(at('/executions'))
  await page.getByRole('link', { name: 'Failing order' }).first().waitFor()
  const figures = page.getByText(/of them failed/)
  expect(await figures.count()).toBe(0)
  answer()
  await figures.waitFor()
  await context.close()
})

test('a failure has its message, code and request id, and a way to try again', async () => {
  const visited = await visit(browser)
  const { context, page } = visited
  await withoutStream(visited)
  const problem = {
    title: 'Gone',
    status: 404,
    detail: 'The shelf is gone',
    message: '',
    code: 'no_shelf',
    requestId: 'r-1',
  }
  await page.route(variables, (route) =>
    route.fulfill({ status: 404, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  )
  await page.goto(at('/variables'))
  const alert = page.getByRole('alert')
  await alert.waitFor()
  expect(await alert.textContent()).toMatch(/The shelf is gone.*no_shelf.*r-1/)
  const again = page.getByRole('button', { name: 'Try again' })
  await page.unroute(variables)
  await Promise.all([page.waitForRequest(variables), again.click()])
  await page.getByText('GREETING').waitFor()
  await context.close()
})

test.each([
  ['execution', '/executions/01a21440-0000-7000-8000-000000000000'],
  ['module', '/modules/01a21440-0000-7000-8000-000000000000'],
  ['sandbox', '/sandboxes/01a21440-0000-7000-8000-000000000000'],
])('the page of what does not exist says so in its heading: %s', async (what, path) => {
  const { context, page } = await visit(browser)
  await page.goto(at(path))
  await page.getByRole('heading', { level: 1, name: `There is no such ${what}` }).waitFor()
  await page.getByRole('alert').waitFor()
  expect(await page.title()).toBe(`There is no such ${what} · Console`)
  await context.close()
})

test('what took the service too long is said at once, and asked for again by who reads it', async () => {
  const visited = await visit(browser)
  const { context, page } = visited
  await withoutStream(visited)
  let asked = 0
  const detail = 'The operation took too long'
  await page.route(variables, (route) => {
    asked += 1
    return route.fulfill({
      status: 504,
      contentType: 'application/problem+json',
      body: JSON.stringify({ status: 504, detail }),
    })
  })
  await page.goto(at('/variables'))
  await page.getByText(detail).waitFor()
  expect(asked).toBe(1)
  await page.unroute(variables)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('GREETING').waitFor()
  await context.close()
})

test('a log that was cut says so above its lines, and a search in it what it has searched', async () => {
  const { context, page } = await visit(browser)
  const cut = 'The log has reached its limit (10000 lines, 1000000 bytes): the rest was dropped'
  const entries = [
    { timestamp: '2030-01-01T00:00:00Z', level: 'INFO', message: 'kept' },
    { timestamp: '2030-01-01T00:00:01Z', level: 'WARNING', message: cut },
  ]
  await page.route('**/rest/executions/*/logs*', (route) =>
    route.fulfill({
      contentType: 'application/x-ndjson',
      body: entries.map((entry) => JSON.stringify(entry)).join('\n'),
    }),
  )
  await page.goto(at(`/executions/${subject.scene.finished}`))
  await page.getByText('This log ends at its limit of 10,000 lines or 1,000,000 bytes.').waitFor()
  await page.getByRole('searchbox', { name: 'Search the log' }).fill('dropped by the limit')
  await page.getByText('none in the lines that were kept').waitFor()
  await picture(page, 'log-cut')
  await context.close()
})

test('where the service is down, a save says what to do, and works once it is there again', async () => {
  const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })
  const { slug } = (await client.post<Process>('/processes', { name: 'Saved late', sourceCode: 'return 1' })).body
  const { context, page } = await visit(browser)
  await page.goto(at(`/processes/${slug}/edit`))
  const editor = page.getByRole('textbox', { name: /^Source of/ })
  await editor.focus()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText('\n')
  const save = '**/rest/processes/*'
  await page.route(save, (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()))
  await page.keyboard.press('Control+s')
  await page.getByRole('alert').getByText("The service can't be reached.").waitFor()
  await page.unroute(save)
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
  await page.getByText(`${slug} is saved`).waitFor()
  await context.close()
})

test('a dialog begins in its first field: a name and Enter make a process', async () => {
  const { context, page } = await visit(browser)
  await page.goto(at('/processes'))
  await page.getByRole('button', { name: 'New process' }).click()
  const name = page.getByRole('dialog').getByLabel('Name')
  await expect.poll(() => name.evaluate((field) => field === document.activeElement)).toBe(true)
  await page.keyboard.type('Made by Enter')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Made by Enter', level: 1 }).waitFor()
  await context.close()
})

test('from the list of schedules a new one is begun by choosing its process', async () => {
  const { failing } = subject.scene
  const { context, page } = await visit(browser)
  await page.goto(at('/schedules'))
  await page.getByRole('button', { name: 'New schedule' }).waitFor()
  await page.keyboard.press('n')
  await page.getByRole('dialog').getByLabel('Process').selectOption(failing.slug)
  await picture(page, 'new-schedule')
  await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(new RegExp(`/processes/${failing.slug}/schedules$`))
  await page.getByLabel('Cron', { exact: true }).waitFor()
  await context.close()
})

test('a new schedule begins with the defaults of the schema, and makes up no parameters', async () => {
  const client = new Client(subject)
  const parametersSchema = {
    type: 'object',
    properties: { purge: { type: 'boolean' }, to: { type: 'string' }, rows: { type: 'integer', default: 10 } },
  }
  const { id, slug } = (
    await client.post<{ id: string; slug: string }>('/processes', {
      name: 'Begins with defaults',
      sourceCode: 'return 1',
      parametersSchema,
    })
  ).body
  const { context, page } = await visit(browser)
  await page.goto(at(`/processes/${slug}/schedules`))
  await page.getByRole('button', { name: 'Make schedule' }).click()
  await page.getByRole('article', { name: /Schedule/ }).waitFor()
  const { body } = await client.get<{ data: { parameters: unknown }[] }>('/schedules', { processId: id })
  expect(body.data.map(({ parameters }) => parameters)).toEqual([{ rows: 10 }])
  await context.close()
})

test('where the session ends the sign-in lies over the page, which keeps what was typed', async () => {
  const { context, page } = await visit(browser, { isStranger: true })
  await page.goto(at('/variables'))
  await page.getByLabel('API token').fill(subject.apiToken)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'New variable' }).click()
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('TYPED')
  await page.getByRole('dialog').getByLabel('Value').fill('before')
  await context.clearCookies()
  // A call that the page makes by itself may be refused first, and then the sign-in lies over the button.
  await page.getByRole('button', { name: /Create|Save/ }).dispatchEvent('click')
  const over = page.getByRole('dialog', { name: 'Your session has ended' })
  await over.waitFor()
  await over.getByLabel('API token').fill(subject.apiToken)
  await page.keyboard.press('Enter')
  await over.waitFor({ state: 'detached' })
  await expect.poll(() => page.getByRole('dialog').getByLabel('Name', { exact: true }).inputValue()).toBe('TYPED')
  await context.close()
})

test('filters are in the address: a link leads to them, and Back undoes one', async () => {
  const { context, page } = await visit(browser)
  await page.goto(at('/executions'))
  await page.getByRole('link', { name: 'Greeting' }).first().waitFor()
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Failed' }).click()
  await page.waitForURL(/status=ERROR/)
  const rows = page.getByRole('link', { name: 'Greeting' })
  await expect.poll(() => rows.count()).toBe(0)
  const copy = await context.newPage()
  await copy.goto(page.url())
  await copy.getByRole('link', { name: 'Failing order' }).first().waitFor()
  expect(await copy.getByRole('link', { name: 'Greeting' }).count()).toBe(0)
  await page.goBack()
  await rows.first().waitFor()
  await context.close()
})

const empty: [path: string, title: string, hasCall: boolean][] = [
  ['', 'This team has no processes yet', false],
  ['/processes', 'No processes yet', true],
  ['/executions', 'Nothing has run yet', true],
  ['/schedules', 'Nothing is scheduled', true],
  ['/modules', 'No modules yet', true],
  ['/variables', 'No variables yet', true],
  ['/dependencies', 'No packages yet', true],
  ['/storage', 'No files yet', true],
  ['/storage?tab=datastore', 'The datastore is empty', false],
  ['/sandboxes', 'No sandboxes', true],
  ['/usage', 'Nothing ran in this time', false],
]

test('a page without anything says why, what to do, and how by curl', async () => {
  expect(await runAdmin(['teams', 'create', 'blank'], subject.env)).toMatchObject({ code: 0 })
  const { stdout } = await runAdmin(['--json', 'console', 'link', 'blank'], subject.env)
  const { url } = JSON.parse(stdout) as { url: string }
  const { context, page, complaints } = await visit(browser, { cookie: await sessionBy(new URL(url)) })
  for (const [path, title, hasCall] of empty) {
    await page.goto(`${subject.origin}/t/blank${path}`)
    await page.getByRole('heading', { name: title }).waitFor()
    await untilShown(page)
    if (hasCall) await callIsShown(page)
    await picture(page, `empty-${title.toLowerCase().replaceAll(/\W+/g, '-')}`)
  }
  expect(complaints).toEqual([])
  await context.close()
})

async function callIsShown(page: Page): Promise<void> {
  await page.getByText('By curl').first().click()
  const call = page.getByRole('region', { name: 'call' })
  await call.waitFor()
  expect(await call.textContent()).toMatch(/curl -sS .*\/api\/blank\/rest\/.*Bearer \$token/s)
}

test('what failed for one schedule is not said of another', async () => {
  const { slug } = subject.scene.failing
  for (const cron of ['1 5 * * *', '2 5 * * *']) await new Client(subject).post(`/processes/${slug}/schedule`, { cron })
  const { context, page } = await visit(browser)
  await page.route('**/rest/schedules/*', (route) =>
    route.request().method() === 'DELETE' ? route.abort() : route.continue(),
  )
  await page.goto(at('/schedules'))
  const ask = async (cron: string) => {
    const row = page.getByRole('row').filter({ hasText: cron })
    await row.getByRole('button', { name: /^Delete/ }).click()
    await page.getByRole('dialog').getByText(cron).waitFor()
  }
  await ask('1 5 * * *')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('alert').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await ask('2 5 * * *')
  expect(await page.getByRole('dialog').getByRole('alert').count()).toBe(0)
  await context.close()
})

test('the times of a log are local, and on hover in their zone and in UTC', async () => {
  const { context, page } = await visit(browser, { zone: 'Europe/Berlin' })
  const entry = { timestamp: '2030-01-01T20:00:00.123456Z', level: 'INFO', message: 'said at night' }
  await page.route('**/rest/executions/*/logs*', (route) =>
    route.fulfill({ contentType: 'application/x-ndjson', body: JSON.stringify(entry) }),
  )
  await page.goto(at(`/executions/${subject.scene.finished}`))
  const time = page.getByText('21:00:00.123', { exact: true })
  await time.waitFor()
  expect(await time.getAttribute('title')).toBe(`1 Jan 2030, 21:00:00 Europe/Berlin\n${entry.timestamp}`)
  await context.close()
})
