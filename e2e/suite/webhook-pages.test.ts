import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserArguments, browserPath, noBrowser } from './browser.ts'
import { makeWebhook } from './runs.ts'
import { client, shared } from './shared-system.ts'

const title = 'a page of a process in a browser'

/** Attempts at what belongs to the origin; each leaves what it got, or the name of the error. */
const ATTEMPTS = `
  const attempts = {
    origin: () => self.origin,
    cookies: () => document.cookie,
    'new cookie': () => { document.cookie = 'planted=1; Path=/'; return 'set' },
    storage: () => localStorage.length,
    worker: () => navigator.serviceWorker.register('?worker').then(() => 'registered'),
    document: () => fetch('/openapi.json').then((answer) => answer.text()).then((text) => text.length),
    popup: () => typeof open('/docs').document,
  }
  const results = {}
  for (const [name, attempt] of Object.entries(attempts))
    try { results[name] = await attempt() } catch (error) { results[name] = error.name }
  document.querySelector('pre').textContent = JSON.stringify(results)
`

describe.skipIf(browserPath === undefined)(browserPath ? title : `${title} (not here: ${noBrowser})`, () => {
  let browser: Browser

  beforeAll(async () => {
    const { chromium } = await import('playwright-core')
    browser = await chromium.launch({ executablePath: browserPath, args: browserArguments })
  })
  afterAll(() => browser?.close())

  test('may run scripts, and reaches nothing of the origin that it comes from', async () => {
    const html = `<!doctype html><pre></pre><script type="module">${ATTEMPTS}</script>`
    const policy = 'sandbox allow-scripts allow-same-origin allow-popups'
    const { slug } = await makeWebhook(
      `if (Object.hasOwn(svc.context.request.query, 'worker'))
         return { status: 200, headers: { 'Content-Type': 'text/javascript', 'Service-Worker-Allowed': '/' }, body: '' }
       return { status: 200, headers: ${JSON.stringify({ 'Content-Type': 'text/html', 'Content-Security-Policy': policy })},
         body: ${JSON.stringify(html)} }`,
    )
    const context = await browser.newContext()
    await context.addCookies([{ name: 'operator', value: 'secret', url: shared.host }])
    const page = await context.newPage()
    await page.goto(`${client.webhooks}/${slug}`)
    await page.locator('pre', { hasText: '{' }).waitFor()
    expect(JSON.parse(await page.locator('pre').innerText())).toEqual({
      origin: 'null',
      cookies: 'SecurityError',
      'new cookie': 'SecurityError',
      storage: 'SecurityError',
      worker: expect.stringMatching(/^(?:SecurityError|InvalidStateError|TypeError)$/) as string,
      document: 'TypeError',
      popup: 'SecurityError',
    })
    expect((await context.cookies()).map(({ name }) => name)).toEqual(['operator'])
    await context.close()
  })
})
