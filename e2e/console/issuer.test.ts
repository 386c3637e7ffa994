import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { at, openBrowser, subject, visit } from './browser.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

const button = (page: Page) => page.getByRole('link', { name: 'Sign in with your organization' })
const sessionOf = async (context: BrowserContext) =>
  (await context.cookies(subject.origin)).find(({ name }) => name === 'pa')

test('a person signs in at the issuer, finds the page that was asked for, and is signed out there, too', async () => {
  const { context, page } = await visit(browser, { isStranger: true })
  const asked: URLSearchParams[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin === subject.issuer && url.searchParams.has('code_challenge')) asked.push(url.searchParams)
  })
  await page.goto(at('/variables?q=a#L120-L130'))
  await button(page).click()
  await page.getByLabel('Login').fill('ada')
  await page.getByRole('button', { name: 'Let me in' }).click()
  await page.getByRole('heading', { name: 'Variables', level: 1 }).waitFor()
  expect(page.url()).toBe(at('/variables?q=a#L120-L130'))
  expect(asked[0]?.get('response_type')).toBe('code')
  expect(asked[0]?.get('code_challenge_method')).toBe('S256')
  expect(await sessionOf(context)).toMatchObject({ httpOnly: true, sameSite: 'Strict' })

  // She is an admin of another of her teams.
  await page.goto(at('/tokens'))
  await page.getByText('Tokens need the scope admin').waitFor()

  const signOut = page.getByRole('button', { name: 'Sign out' })
  expect(await signOut.getAttribute('title')).toMatch(/^Signed in as Ada Lövelace \(ada, http:\/\/127\.0\.0\.1:\d+\)$/)
  await signOut.click()
  await page.getByRole('button', { name: /sign me out/i }).click()
  await button(page).waitFor()
  expect(page.url().startsWith(subject.origin)).toBe(true)
  expect(await sessionOf(context)).toBeUndefined()
  // The issuer asks again who it is.
  await button(page).click()
  await page.getByLabel('Login').waitFor()
  await context.close()
})

test('an answer of the issuer to an attempt that is not of this browser signs nobody in', async () => {
  const { context, page } = await visit(browser, { isStranger: true })
  const answer = await answerToAnother()
  const isRefused = async () => {
    await page.goto(answer)
    await page.getByRole('alert').waitFor()
    await button(page).waitFor()
    expect(await sessionOf(context)).toBeUndefined()
    expect(page.url()).not.toContain('code=')
  }
  // Without an attempt of its own, and amid one.
  await isRefused()
  await button(page).click()
  await page.getByLabel('Login').waitFor()
  await isRefused()
  await context.close()
})

/** Where the issuer sends the browser of somebody else, who does not go there. */
async function answerToAnother(): Promise<string> {
  const { context, page } = await visit(browser, { isStranger: true })
  await page.goto(at('/variables'))
  await button(page).click()
  await page.getByLabel('Login').waitFor()
  const once = { maxRedirects: 0 }
  let response = await context.request.post(page.url(), { ...once, form: { login: 'mallory' } })
  for (;;) {
    const next = new URL(response.headers()['location'] ?? '', response.url())
    if (next.origin === subject.origin) {
      expect(next.searchParams.has('code')).toBe(true)
      await context.close()
      return next.href
    }
    response = await context.request.get(next.href, once)
  }
}
