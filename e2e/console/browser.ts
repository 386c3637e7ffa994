import { readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { inject } from 'vitest'
import { browserArguments, browserPath } from '../suite/browser.ts'

export const subject = inject('console')

/** How long what is to come may take where the machine does much else. */
const PATIENCE_MS = 45_000

/** A Chromium for one file of tests. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: browserPath, args: browserArguments })
}

export interface Look {
  theme?: 'light' | 'dark'
  width?: number
  /** Without the cookies of the session. */
  isStranger?: boolean
  /** Of the clocks of who looks, such as `Europe/Berlin`; that of the machine else. */
  zone?: string
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
  { theme = 'light', width = 1440, isStranger = false, zone, cookie = subject.cookie }: Look = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    ...(zone !== undefined && { timezoneId: zone }),
  })
  if (!isStranger) await context.addCookies(cookie.split('; ').map(asCookie))
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (line) => {
    if (line.type() === 'error') complaints.push(`${line.text()} ${line.location().url}`)
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { context, page, complaints }
}

/** Holds the stream of the team back, so that the page reads nothing anew by itself. */
export async function withoutStream({ page }: Visit): Promise<void> {
  await inPage(page)
  await page.route(STREAM, () => undefined)
}

/** Cuts the stream of the team; gives what lets it come again. */
export async function cutStream({ page }: Visit): Promise<() => Promise<void>> {
  await inPage(page)
  await page.route(STREAM, (route) => route.abort())
  return () => page.unroute(STREAM)
}

const STREAM = '**/rest/events'

/** The stream of a worker that tabs share can't be held from here; that of a page can. */
const inPage = (page: Page) => page.addInitScript(() => Reflect.deleteProperty(window, 'SharedWorker'))

/** A browser with what its folder keeps from one start to the next, signed in. */
export async function openProfile(folder: string): Promise<{ context: BrowserContext; page: Page }> {
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: browserPath,
    args: browserArguments,
  })
  context.setDefaultTimeout(PATIENCE_MS)
  await context.addCookies(subject.cookie.split('; ').map(asCookie))
  const [page = await context.newPage()] = context.pages()
  return { context, page }
}

/** Kills the browser of a profile, which gets no chance to write anything more. */
export async function crash(context: BrowserContext, folder: string): Promise<void> {
  // The lock of a profile is a link that ends in the id of its process.
  const pid = Number((await readlink(join(folder, 'SingletonLock'))).split('-').at(-1))
  const closed = context.waitForEvent('close')
  process.kill(pid, 'SIGKILL')
  await closed
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
