import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, openBrowser, picture, subject, visit, type Visit } from './browser.ts'
import { faultsOfAxe, widthBeyond } from './readable.ts'
import { untilShown } from './until.ts'

const { scene } = subject
const { greeting, failing, finished, failed, moduleId, sandbox, file, form } = scene

/** Every page of the console: a name for its picture, its address, and a text that shows that it is there. */
const pages: [name: string, path: string, heading: string][] = [
  ['home', '', 'Home'],
  ['processes', '/processes', 'Processes'],
  ['process-edit', `/processes/${greeting.slug}/edit`, greeting.name],
  ['process-readme', `/processes/${greeting.slug}/readme`, greeting.name],
  ['process-versions', `/processes/${greeting.slug}/versions`, greeting.name],
  ['process-webhook', `/processes/${greeting.slug}/webhook`, greeting.name],
  ['process-schedules', `/processes/${greeting.slug}/schedules`, greeting.name],
  ['process-dependencies', `/processes/${greeting.slug}/dependencies`, greeting.name],
  ['process-settings', `/processes/${failing.slug}/settings`, failing.name],
  ['executions', '/executions', 'Executions'],
  ['execution-finished', `/executions/${finished}`, greeting.name],
  ['execution-failed', `/executions/${failed}`, failing.name],
  ['compare', `/executions/compare?a=${finished}&b=${failed}`, 'Compare'],
  ['schedules', '/schedules', 'Schedules'],
  ['calendar', '/schedules?view=calendar', 'Schedules'],
  ['modules', '/modules', 'Modules'],
  ['module', `/modules/${moduleId}`, 'words'],
  ['variables', '/variables', 'Variables'],
  ['dependencies', '/dependencies', 'Dependencies'],
  ['module-versions', `/modules/${moduleId}?tab=versions`, 'words'],
  ['storage', '/storage', 'Storage'],
  ['storage-folder', `/storage?prefix=${encodeURIComponent(`${file.split('/')[0]}/`)}`, 'Storage'],
  ['datastore', '/storage?tab=datastore', 'Storage'],
  ['sandboxes', '/sandboxes', 'Sandboxes'],
  ['sandbox', `/sandboxes/${sandbox.id}`, 'try-out'],
  ['sandbox-files', `/sandboxes/${sandbox.id}?tab=files`, 'try-out'],
  ['execution-source', `/executions/${failed}?tab=source`, failing.name],
  ['execution-request', `/executions/${finished}?tab=request`, greeting.name],
  ['calendar-month', '/schedules?view=calendar&span=month', 'Schedules'],
  ['usage', '/usage', 'Usage'],
  ['audit', '/audit', 'Audit'],
  ['tokens', '/tokens', 'Tokens'],
  ['settings', '/settings', 'Settings'],
  ['no-such-page', '/nothing-here', 'There is no such page'],
  ['form', `${subject.origin}/forms/${form}`, 'Order a desk'],
]

/** Each theme at one width of each kind: colours do not depend on the width, so axe sees all there is to see. */
const looks = [
  { theme: 'light', width: 1440 },
  { theme: 'dark', width: 360 },
] as const

const widths = [
  { theme: 'light', width: 768 },
  { theme: 'dark', width: 1440 },
  { theme: 'light', width: 2560 },
] as const

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

describe.each(looks)('in $theme at $width pixels', (look) => {
  // One window for all, as of somebody who goes from page to page: what the browser has kept need not come again.
  let visited: Visit
  beforeAll(async () => {
    visited = await visit(browser, look)
  })
  afterAll(() => visited.context.close())

  test.each(pages)(
    '%s is readable, keeps to its width and has nothing that axe or the browser complains of',
    async (name, path, heading) => {
      const { page, complaints } = visited
      complaints.length = 0
      await open(page, path, heading)
      await picture(page, `${name}-${look.theme}-${look.width}`)
      expect(await widthBeyond(page)).toBe(0)
      expect(await faultsOfAxe(page)).toEqual([])
      expect(complaints).toEqual([])
    },
  )
})

test.each(widths)(
  'in $theme at $width pixels every page keeps to its width, and the browser complains of none',
  async (look) => {
    const { context, page, complaints } = await visit(browser, look)
    for (const [name, path, heading] of pages) {
      await open(page, path, heading)
      await picture(page, `${name}-${look.theme}-${look.width}`)
      expect.soft({ name, beyond: await widthBeyond(page) }).toEqual({ name, beyond: 0 })
    }
    expect(complaints).toEqual([])
    await context.close()
  },
)

test('a wide window is used: lists and editors reach beyond 2,000 pixels', async () => {
  const { context, page } = await visit(browser, { width: 2560 })
  await page.goto(at('/executions'))
  const box = await page.getByRole('table', { name: 'Executions, newest first' }).boundingBox()
  expect(box!.width).toBeGreaterThan(2000)
  await context.close()
})

test('on a phone the open tab of a process and the present day of the calendar are in sight', async () => {
  const { context, page } = await visit(browser, { width: 360 })
  await page.goto(at(`/processes/${failing.slug}/settings`))
  const tab = page
    .getByRole('link', { name: 'Settings', exact: true, includeHidden: false })
    .and(page.locator('[aria-current=page]'))
  await expect.poll(() => isInSight(page, tab)).toBe(true)
  for (const span of ['week', 'month']) {
    await page.goto(at(`/schedules?view=calendar&span=${span}`))
    await expect.poll(() => isInSight(page, page.locator('[aria-current=date]'))).toBe(true)
  }
  await context.close()
})

async function isInSight(page: Page, element: Locator): Promise<boolean> {
  const box = await element.boundingBox()
  const width = page.viewportSize()?.width ?? 0
  return box !== null && box.x >= 0 && box.x + box.width <= width
}

/** Leads to a page, until nothing of it is a skeleton and its fonts are there. */
async function open(page: Page, path: string, heading: string): Promise<void> {
  await page.goto(path.startsWith('http') ? path : at(path))
  await page.locator('h1, h2', { hasText: heading }).first().waitFor()
  await untilShown(page)
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
}
