import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { inject } from 'vitest'
import { browserArguments, browserPath } from '../suite/browser.ts'

export const subject = inject('console')

/** A Chromium for one file of tests. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: browserPath, args: browserArguments })
}

export interface Look {
  theme?: 'light' | 'dark'
  width?: number
  /** Without the cookies of the session. */
  isStranger?: boolean
  /** Those of another session, as a header has them. */
  cookie?: string
}

export interface Visit {
  context: BrowserContext
  page: Page
  /** What the browser said against the page: errors of its console, of scripts, and reports of the content policy. */
  complaints: string[]
}

/** A window of its own, signed in. */
export async function visit(
  browser: Browser,
  { theme = 'light', width = 1440, isStranger = false, cookie = subject.cookie }: Look = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    reducedMotion: 'reduce',
  })
  if (!isStranger) await context.addCookies(cookie.split('; ').map(asCookie))
  context.setDefaultTimeout(15_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (line) => {
    if (line.type() === 'error') complaints.push(line.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { context, page, complaints }
}

function asCookie(pair: string): { name: string; value: string; url: string } {
  const [name = '', value = ''] = pair.split('=', 2)
  return { name, value, url: subject.origin }
}

/** Where the pages of the team are. */
export const at = (path: string): string => `${subject.origin}/t/${subject.team}${path}`

/** Kept in the folder that SCREENSHOTS names, for people to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
