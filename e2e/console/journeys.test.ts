import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import { at, openBrowser, picture, subject, visit } from './browser.ts'
import { Journey, report } from './journey.ts'

const { scene } = subject
const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })

let browser: Browser
let context: BrowserContext
let page: Page
let complaints: string[]

beforeAll(async () => {
  browser = await openBrowser()
})
beforeEach(async () => {
  ;({ context, page, complaints } = await visit(browser))
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

async function start(parameters: object): Promise<string> {
  const { body } = await client.post<{ executionId: string }>(`/processes/${scene.greeting.id}/execute`, { parameters })
  return body.executionId
}

test('1 what starts elsewhere is seen without an act', async () => {
  await open('/executions', 'Executions')
  await page.getByRole('link', { name: 'Failing order' }).first().waitFor()
  const journey = new Journey(page, '1 is all well')
  const name = `at-once-${Date.now()}`
  const id = await start({ name })
  await page.locator(`a[href*="${id}"]`).first().waitFor()
  expect(journey.acts).toBe(0)
})

test('2 an id alone leads to the error, its line in the source and the last log line', async () => {
  const journey = new Journey(page, '2 from an id to the cause')
  await page.goto(`${subject.origin}/x/${scene.failed}`)
  await journey.sees(/TypeError/)
  await journey.sees('return order.total')
  await journey.sees('order 4711')
  expect(journey.acts).toBe(0)
})

test('3 a rerun with other parameters: r, the new ones, Ctrl+Enter', async () => {
  await open(`/executions/${scene.finished}`, 'Greeting')
  await page.getByText('Hello, Ada').first().waitFor()
  const journey = new Journey(page, '3 rerun with other parameters')
  await journey.press('r')
  await page.getByLabel('Parameters', { exact: true }).and(page.locator('textarea')).waitFor()
  await page.keyboard.press('Control+a')
  await journey.type('{"name": "Grace"}')
  await journey.press('Control+Enter')
  await journey.sees('Hello, Grace')
  expect(journey.acts).toBe(3)
})

test('8 the run of order 4711 is found by its number', async () => {
  await open('/executions', 'Executions')
  const journey = new Journey(page, '8 find the run of an order')
  await page.keyboard.press('/')
  await journey.type('4711')
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

test('4 unsaved code runs with Ctrl+Enter, and its log comes by itself', async () => {
  await open(`/processes/${scene.failing.slug}/edit`, scene.failing.name)
  await page.getByRole('region', { name: 'Source' }).locator('.cm-content').focus()
  const journey = new Journey(page, '4 try unsaved code')
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText("console.log('tried ' + 'at once')\nreturn { total: 40 + 2 }")
  await journey.press('Control+Enter')
  await journey.sees('tried at once')
  await journey.sees(/^42$/)
  expect(journey.acts).toBe(1)
  const stored = await client.get<{ sourceCode: string }>(`/processes/${scene.failing.id}`)
  expect(stored.body.sourceCode).toBe(scene.failing.sourceCode)
})

test('6 a request is sent to the webhook, and its delivery is there', async () => {
  await open(`/processes/${scene.greeting.slug}/webhook`, scene.greeting.name)
  const send = page.getByRole('button', { name: 'Send', exact: true })
  await send.focus()
  const journey = new Journey(page, '6 webhook test')
  await journey.press('Enter')
  await journey.sees(/Hello, /)
  expect(journey.acts).toBe(1)
})

test('7 a schedule of one field, with its next ten runs at each key', async () => {
  await open(`/processes/${scene.failing.slug}/schedules`, scene.failing.name)
  await page.getByLabel('Cron', { exact: true }).focus()
  const journey = new Journey(page, '7 schedule')
  await page.keyboard.press('Control+a')
  await journey.type('30 2 * * *')
  const next = page.getByRole('region', { name: 'Next runs' })
  await next.getByText(/02:30/).first().waitFor()
  expect(await next.locator('time').count()).toBeGreaterThanOrEqual(10)
  await journey.press('Enter')
  await page
    .getByRole('article', { name: /Schedule/ })
    .filter({ hasText: '30 2 * * *' })
    .waitFor()
  expect(journey.acts).toBe(2)
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
