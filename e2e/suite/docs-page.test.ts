import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserArguments, browserPath, noBrowser } from './browser.ts'
import { shared } from './shared-system.ts'

const title = 'the API page in a browser'

describe.skipIf(browserPath === undefined)(browserPath ? title : `${title} (not here: ${noBrowser})`, () => {
  let browser: Browser
  let page: Page
  const complaints: string[] = []
  const origins = new Set<string>()

  beforeAll(async () => {
    const { chromium } = await import('playwright-core')
    browser = await chromium.launch({ executablePath: browserPath, args: browserArguments })
    page = await browser.newPage({ viewport: { width: 1200, height: 1400 } })
    // A machine that does much else draws all operations slowly.
    page.setDefaultTimeout(90_000)
    page.on('console', (line) => {
      if (line.type() === 'error') complaints.push(line.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin)
    })
  })
  afterAll(() => browser?.close())

  test('shows all operations, authorizes with a token, and runs one by clicks alone', async () => {
    await page.goto(`${shared.host}/docs`)
    await page.locator('.opblock').first().waitFor()
    const paths = await operations()
    expect(await page.locator('.opblock').count()).toBe(paths)
    await picture('operations')

    await page.locator('.btn.authorize').click()
    await page.getByLabel('auth-bearer-value').fill(shared.main.accessToken)
    await picture('authorize')
    await page.locator('.modal-ux .auth-container', { hasText: 'bearer' }).locator('.modal-btn.authorize').click()
    await page.locator('.modal-ux .btn-done').first().click()

    const operation = page.locator('#operations-Team-getTeam')
    await operation.locator('.opblock-summary-control').click()
    await operation.locator('tr[data-param-name="team"] input').fill(shared.main.team)
    await operation.locator('.btn.execute').click()
    const answer = operation.locator('.live-responses-table .response').first()
    await answer.waitFor()
    await picture('answer')
    expect(await answer.locator('.response-col_status').innerText()).toMatch(/^200/)
    expect(await answer.locator('.response-col_description').innerText()).toContain(`"slug": "${shared.main.team}"`)

    expect(complaints).toEqual([])
    expect([...origins]).toEqual([shared.host])
  })

  async function operations(): Promise<number> {
    const { paths } = (await (await fetch(`${shared.host}/openapi.json`)).json()) as { paths: Record<string, object> }
    return Object.values(paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0)
  }

  /** Kept in the folder that SCREENSHOTS names, for people to look at. */
  async function picture(name: string): Promise<void> {
    const folder = process.env['SCREENSHOTS']
    if (folder) await page.screenshot({ path: join(folder, `docs-${name}.png`) })
  }
})
