import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Execution, Process } from '../client/records.ts'
import { runAdmin } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { at, openBrowser, picture, subject, visit } from './browser.ts'
import { Journey, report } from './journey.ts'

const { scene } = subject
const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })

const SOON = { timeoutMs: 30_000 }

let browser: Browser
let context: BrowserContext
let page: Page
let complaints: string[]

beforeAll(async () => {
  browser = await openBrowser()
})
beforeEach(async () => {
  ;({ context, page, complaints } = await visit(browser))
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: subject.origin })
})
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(page, `failed-job-${task.name.split(' ', 1)[0]}`)
  await context.close()
  expect(complaints).toEqual([])
})
afterAll(async () => {
  console.log(report())
  await browser.close()
})

async function open(path: string, heading: string): Promise<void> {
  await page.goto(at(path))
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
}

async function start(parameters: object, process = scene.greeting): Promise<string> {
  const { body, text } = await client.post<{ executionId: string }>(`/processes/${process.id}/execute`, { parameters })
  expect(body.executionId, text).toBeDefined()
  return body.executionId
}

const button = (name: string | RegExp): Locator => page.getByRole('button', { name, exact: true })

test('1 whether all is well is seen without an act, and what starts elsewhere comes by itself', async () => {
  const home = new Journey(page, '1 is all well')
  await page.goto(at(''))
  await home.sees('Failing processes, 24 hours')
  await home.sees(/TypeError/)
  await home.sees('Coming firings')
  await page.goto(at('/executions'))
  await home.sees(page.getByRole('link', { name: 'Failing order' }))
  const live = new Journey(page, '1 a change elsewhere is shown')
  const id = await start({ name: `at-once-${Date.now()}` })
  await live.sees(page.locator(`a[href*="${id}"]`))
  expect(home.acts + live.acts).toBe(0)
})

test('2 an id that is pasted leads to the error, its line in the source and the last log line', async () => {
  await open('', 'Home')
  const journey = new Journey(page, '2 from an id to the cause')
  await journey.paste(scene.failed)
  await journey.sees(/TypeError/)
  await journey.sees('return order.total')
  await journey.sees('order 4711')
  expect(journey.acts).toBe(1)
})

test('2 the address with the id alone leads there, too', async () => {
  await page.goto(`${subject.origin}/x/${scene.failed}`)
  await page.getByText('order 4711').first().waitFor()
})

test('3 a rerun with other parameters: r, the new ones, Ctrl+Enter', async () => {
  await open(`/executions/${scene.finished}`, 'Greeting')
  await page.getByText('Hello, Ada').first().waitFor()
  const journey = new Journey(page, '3 rerun with other parameters')
  await journey.press('r')
  await journey.reach(page.getByLabel('Parameters', { exact: true }).and(page.locator('textarea')))
  await journey.type('{"name": "Grace"}')
  await journey.press('Control+Enter')
  await journey.sees('Hello, Grace')
  expect(journey.acts).toBe(2)
})

test('4 unsaved code runs with Ctrl+Enter, and its log comes by itself', async () => {
  await open(`/processes/${scene.failing.slug}/edit`, scene.failing.name)
  const journey = new Journey(page, '4 try unsaved code')
  await journey.reach(page.getByRole('region', { name: 'Source' }).locator('.cm-content'))
  await journey.type("console.log('tried ' + 'at once')\nreturn { total: 40 + 2 }")
  await journey.press('Control+Enter')
  await journey.sees('tried at once')
  await journey.sees(/^42$/)
  expect(journey.acts).toBe(1)
  const stored = await client.get<{ sourceCode: string }>(`/processes/${scene.failing.id}`)
  expect(stored.body.sourceCode).toBe(scene.failing.sourceCode)
})

test('5 a version is published with its diff, and the alias is moved to it', async () => {
  const made = await client.post<{ id: string; slug: string }>('/processes', { name: 'Priced', sourceCode: 'return 1' })
  const { id, slug } = made.body
  const first = await client.post<{ id: string }>(`/processes/${id}/versions`, { tag: 'v1' })
  await client.post(`/processes/${id}/aliases`, { name: 'live', versionId: first.body.id })
  await client.patch(`/processes/${id}`, { sourceCode: 'return 2' })
  await open(`/processes/${slug}/edit`, 'Priced')
  await page.getByRole('textbox', { name: /^Source of/ }).focus()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText(' + 1')
  await page.getByRole('heading', { name: 'Priced', level: 1 }).click()
  const journey = new Journey(page, '5 publish what was edited, move an alias')
  await journey.reach(button('Save and publish…'))
  await journey.press('Enter')
  await journey.sees(page.getByRole('dialog').getByText('return 2 + 1'))
  const tag = page.getByRole('dialog').getByLabel('Tag', { exact: true })
  expect(await tag.evaluate((field) => field === document.activeElement)).toBe(true)
  await picture(page, 'publish-from-editor')
  await journey.reach(page.getByRole('checkbox', { name: /^live/ }))
  await journey.press('Space')
  await journey.reach(page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }))
  await journey.press('Enter')
  await journey.sees('v2 is published, and live leads to it')
  expect(journey.acts).toBe(3)
  expect((await client.post(`/processes/${id}/execute-sync`, { tag: 'live' })).body).toBe(3)
})

test('6 a signed request is sent to the webhook as the one before it was, and its delivery is replayed', async () => {
  await open(`/processes/${scene.greeting.slug}/webhook`, scene.greeting.name)
  await page.getByLabel('Signature', { exact: true }).selectOption('GitHub')
  await page.getByLabel('Variable of the secret').fill('GREETING')
  await button('Send').click()
  await page
    .getByText(/Hello, /)
    .first()
    .waitFor()
  await page.reload()
  const sending = new Journey(page, '6 webhook test')
  await sending.reach(button('Send'))
  await sending.press('Enter')
  await sending.sees(/Hello, /)
  expect(sending.acts).toBe(1)
  expect(await page.locator('dt', { hasText: /^x-hub-signature-256$/i }).count()).toBe(1)
  const replaying = new Journey(page, '6 replay of a delivery')
  await replaying.reach(button('Replay').first())
  await replaying.press('Enter')
  await replaying.sees(page.getByRole('heading', { name: scene.greeting.name, level: 1 }).and(page.locator('h1')))
  await page.waitForURL(/executions/)
  await replaying.sees(/Hello, /)
  expect(replaying.acts).toBe(1)
})

test('7 a schedule of one field, with its next ten runs at each key', async () => {
  await open(`/processes/${scene.failing.slug}/schedules`, scene.failing.name)
  const journey = new Journey(page, '7 schedule')
  await journey.reach(page.getByLabel('Cron', { exact: true }))
  await journey.type('30 2 * * *')
  const next = page.getByRole('region', { name: 'Next runs' })
  await journey.sees(next.getByText(/02:30/))
  expect(await next.locator('time').count()).toBeGreaterThanOrEqual(10)
  await journey.press('Enter')
  await page
    .getByRole('article', { name: /Schedule/ })
    .filter({ hasText: '30 2 * * *' })
    .waitFor()
  expect(journey.acts).toBe(1)
})

test('8 the run of order 4711 is found by its number', async () => {
  await open('/executions', 'Executions')
  const journey = new Journey(page, '8 find the run of an order')
  await journey.press('/')
  await page.keyboard.insertText('4711')
  await journey.press('Enter')
  await page.waitForURL(/q=.*4711/)
  await journey.sees('Failing order')
  await expect
    .poll(() =>
      page
        .locator(`a[href*="/executions/"]`)
        .filter({ hasText: /Greeting/ })
        .count(),
    )
    .toBe(0)
  expect(journey.acts).toBe(2)
})

test('9 why a run waits, its position and the remedy are seen without an act', async () => {
  const made = await client.post<Process>('/processes', {
    name: 'Slow',
    sourceCode: 'await new Promise((resolve) => setTimeout(resolve, 120_000))',
  })
  const limit = (value: string) => runAdmin(['teams', 'limit', subject.team, 'running', value], subject.env)
  const statusOf = async (id: string) => (await client.get<Execution>(`/executions/${id}`)).body.status
  const ids = [await start({}, made.body)]
  try {
    await waitUntil('a run that goes on', async () => (await statusOf(ids[0] ?? '')) === 'RUNNING', SOON)
    expect(await limit('1')).toMatchObject({ code: 0 })
    const isHeld = async () => {
      const id = await start({ name: 'held' })
      const waits = async () => {
        const status = await statusOf(id)
        return status === 'FINISHED' || status === 'QUEUED' ? status : false
      }
      return (await waitUntil('a run that ends or waits', waits, SOON)) === 'QUEUED'
    }
    await waitUntil('a limit that holds', isHeld, { timeoutMs: 60_000 })
    ids.push(await start({}, made.body))
    await waitUntil('a run that waits', async () => (await statusOf(ids[1] ?? '')) === 'QUEUED', SOON)
    const journey = new Journey(page, '9 why does it wait')
    await page.goto(at(`/executions/${ids[1]}`))
    const why = page.getByRole('region', { name: 'Why it waits' })
    await journey.sees(why.getByText(/2nd in line/))
    await journey.sees(why.getByText(/1 of 1/))
    await picture(page, 'waiting')
    expect(await why.textContent()).toMatch(/limit/)
    expect(await why.getByRole('link', { name: 'See what runs now' }).count()).toBe(1)
    expect(journey.acts).toBe(0)
  } finally {
    await limit('default')
    for (const id of ids) await client.post(`/executions/${id}/kill`)
  }
})

test('10 a package is staged, compared and installed with its log, and rolled back', async () => {
  await open('/dependencies', 'Dependencies')
  const field = page.getByRole('textbox', { name: /package/i })
  const install = async (text: string, journey: Journey) => {
    await journey.reach(field)
    await journey.type(text)
    await journey.press('Enter')
    await journey.sees(page.getByRole('table', { name: 'Packages' }).getByText('added'))
    await journey.reach(button('Install'))
    await journey.press('Enter')
    await journey.sees(page.getByRole('region', { name: 'Log of the installation' }))
    const newest = page.getByRole('table', { name: 'Installations' }).locator('tbody tr').first()
    await newest.getByText('Active').waitFor()
  }
  const first = new Journey(page, '10 add a package')
  await install('answer@1.2.3', first)
  expect(first.acts).toBeLessThanOrEqual(3)
  await picture(page, 'installed')
  await install('other@1.2.3', new Journey(page, '10 add another package'))
  const back = new Journey(page, '10 roll back')
  await back.reach(button('Roll back').first())
  await back.press('Enter')
  await back.sees('Runs see the packages of that installation')
  expect(back.acts).toBe(1)
  await expect
    .poll(async () => (await client.get<{ dependencies: object }>('/dependencies/JAVASCRIPT')).body.dependencies)
    .toEqual({ answer: '1.2.3' })
})

test('[ and ] lead to the runs beside one in the list that it was opened from', async () => {
  const [older, newer] = [await start({ name: 'older' }), await start({ name: 'newer' })]
  await open('/executions', 'Executions')
  await page.locator(`a[href*="${newer}"]`).first().click()
  await page.waitForURL(new RegExp(newer))
  await page.getByText('Hello, newer').first().waitFor()
  await page.keyboard.press(']')
  await page.waitForURL(new RegExp(older))
  await page.getByText('Hello, older').first().waitFor()
  await page.reload()
  await page.getByText('Hello, older').first().waitFor()
  await page.keyboard.press('[')
  await page.waitForURL(new RegExp(newer))
})

test('j and Enter open a process of the list', async () => {
  await open('/processes', 'Processes')
  const first = page.getByRole('table', { name: 'Processes' }).locator('tbody tr').first()
  await first.waitFor()
  const name = (await first.getByRole('link').first().textContent()) ?? ''
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name, level: 1 }).waitFor()
})

test('what is typed before the palette is there stands in it', async () => {
  await open('', 'Home')
  let load = (): void => undefined
  const held = new Promise<void>((resolve) => (load = resolve))
  await page.route('**/assets/palette-*.js', async (route) => {
    await held
    await route.continue()
  })
  await page.keyboard.press('Control+k')
  await page.keyboard.type('gree')
  load()
  const field = page.getByRole('combobox')
  await field.waitFor()
  expect(await field.inputValue()).toBe('gree')
})
