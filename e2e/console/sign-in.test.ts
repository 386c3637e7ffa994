import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { attackOn, NOTHING_REACHED } from './attack.ts'
import { at, openBrowser, subject, visit } from './browser.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('a stranger signs in with an API token, finds the page that was asked for, and signs out again', async () => {
  const { context, page } = await visit(browser, { isStranger: true })
  await page.goto(at('/variables'))
  await page.getByLabel('API token').fill('not a token')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('API token').fill(subject.apiToken)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Variables', level: 1 }).waitFor()
  const [cookie] = await context.cookies()
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
  expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))).not.toContain(
    subject.apiToken,
  )
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API token').waitFor()
  expect(await context.cookies()).toEqual([])
  await context.close()
})

test('a page that a webhook answers with reaches nothing of the session', async () => {
  const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })
  const html = `<body><script>${attackOn(subject)}</script>`
  const attack = `return {
  status: 200,
  headers: {
    'content-type': 'text/html',
    'content-security-policy': "sandbox allow-scripts allow-same-origin; default-src * 'unsafe-inline'",
  },
  body: ${JSON.stringify(html)},
}`
  const made = await client.post<Process>('/processes', {
    name: 'attack',
    sourceCode: attack,
    webhook: { enabled: true },
  })
  expect(made.status, made.text).toBe(201)
  const { context, page } = await visit(browser)
  await page.goto(`${client.webhooks}/${made.body.slug}`)
  await page.waitForFunction(() => document.title.startsWith('done'))
  expect(await page.title()).toBe(NOTHING_REACHED)
  await page.goto(at('/variables'))
  await page.getByRole('heading', { name: 'Variables', level: 1 }).waitFor()
  await context.close()
})

test('a page that the storage has is downloaded, also by its signed link, and not run as one of the console', async () => {
  const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })
  const stored = await client.call('POST', '/storage/objects', {
    query: { filename: 'attack.html' },
    body: `<body><script>${attackOn(subject)}</script>`,
    headers: { 'content-type': 'text/html' },
  })
  expect(stored.status, stored.text).toBe(204)
  const signed = await client.post<{ url: string }>('/storage/signed-urls', { path: 'attack.html' })
  const { context, page } = await visit(browser)
  const ways = [`${subject.origin}/api/${subject.team}/rest/storage/objects/attack.html`, signed.body.url]
  for (const address of ways) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.goto(address).catch(() => undefined)])
    expect(new URL(download.url()).pathname).toBe(new URL(address).pathname)
  }
  await page.goto(at('/variables'))
  await page.getByRole('heading', { name: 'Variables', level: 1 }).waitFor()
  expect(await page.getByText('STOLEN').count()).toBe(0)
  await context.close()
})
