import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
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
  const attack = `const body = \`<body><script>
    const tries = [
      fetch('${subject.origin}/session', { credentials: 'include' }).then((r) => r.text()),
      fetch('${subject.origin}/api/${subject.team}/rest/variables', { credentials: 'include' }).then((r) => r.text()),
      fetch('${subject.origin}/session', { method: 'DELETE', credentials: 'include', headers: { 'X-Console': '1' } }).then((r) => r.status),
      new Promise((done) => { const f = document.createElement('iframe'); f.src = '${subject.origin}/'; f.onload = () => { try { done(f.contentDocument.body.innerHTML) } catch (e) { done('') } }; document.body.append(f) }),
    ]
    Promise.allSettled(tries).then((all) => { document.title = 'done ' + JSON.stringify(all.map((one) => one.value ?? '')) })
  </scr\` + \`ipt>\`
  return { status: 200, headers: { 'content-type': 'text/html', 'content-security-policy': "sandbox allow-scripts allow-same-origin; default-src * 'unsafe-inline'" }, body }`
  const made = await client.post<Process>('/processes', {
    name: 'attack',
    sourceCode: attack,
    webhook: { enabled: true },
  })
  expect(made.status, made.text).toBe(201)
  const { context, page } = await visit(browser)
  await page.goto(`${client.webhooks}/${made.body.slug}`)
  await page.waitForFunction(() => document.title.startsWith('done'))
  expect(await page.title()).toBe('done ["","","",""]')
  await page.goto(at('/variables'))
  await page.getByRole('heading', { name: 'Variables', level: 1 }).waitFor()
  await context.close()
})
