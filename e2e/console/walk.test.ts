import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { at, openBrowser, subject, visit, withoutStream } from './browser.ts'
import { untilShown } from './until.ts'

const { scene } = subject

/** A page of each kind: lists, forms, an editor, a log, a calendar. */
const paths = [
  '',
  '/processes',
  `/processes/${scene.greeting.slug}/edit`,
  `/processes/${scene.greeting.slug}/webhook`,
  `/processes/${scene.greeting.slug}/schedules`,
  `/processes/${scene.greeting.slug}/settings`,
  '/executions',
  `/executions/${scene.failed}`,
  '/schedules?view=calendar',
  '/dependencies',
  '/storage',
]

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test.each(paths)('all of %s is reached by Tab, with a focus that is seen, and left again', async (path) => {
  const visited = await visit(browser, { width: 768 })
  const { context, page } = visited
  await withoutStream(visited)
  await page.goto(at(path))
  await page.locator('h1').first().waitFor()
  await untilShown(page)
  const wanted = await page.evaluate(countTabbable)
  const seen = new Set<number>()
  const unseen: string[] = []
  let first: number | undefined
  for (let tabs = 0; tabs < wanted + 60; tabs += 1) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate(focused)
    if (stop === undefined) break
    if (stop.isCode) await page.keyboard.press('Escape')
    if (!stop.isShown) unseen.push(stop.name)
    first ??= stop.number
    // A field of a date has several stops of its own.
    if (stop.number === first && seen.size > 1) break
    seen.add(stop.number)
  }
  expect(unseen).toEqual([])
  // Radio buttons and the like are one stop for several.
  expect(seen.size).toBeGreaterThanOrEqual(Math.floor(wanted * 0.95))
  await context.close()
})

test('single keys lead to all pages, do nothing while somebody types, and can be turned off', async () => {
  const { context, page } = await visit(browser)
  await page.goto(at(''))
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  const go = async (letter: string, heading: string) => {
    // The letter counts for a moment only.
    await Promise.all([page.keyboard.press('g'), page.keyboard.press(letter)])
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  }
  await go('p', 'Processes')
  await page.keyboard.press('/')
  await page.keyboard.type('ge')
  expect(await page.getByRole('heading', { name: 'Processes', level: 1 }).count()).toBe(1)
  await page.keyboard.press('Escape')
  await blur(page)
  await go('e', 'Executions')
  await page.getByRole('table', { name: 'Executions, newest first' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(/executions\/[0-9a-f-]{36}/)
  await page.keyboard.press('?')
  await page.getByRole('checkbox', { name: /Single keys count/ }).uncheck()
  await page.keyboard.press('Escape')
  const address = page.url()
  await Promise.all([page.keyboard.press('g'), page.keyboard.press('p')])
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  expect(page.url()).toBe(address)
  await context.close()
})

const blur = (page: Page) => page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())

function countTabbable(): number {
  const all = document.querySelectorAll<HTMLElement>(
    'a[href], button:not([disabled]), input:not([disabled]):not([type=hidden]), select:not([disabled]), textarea:not([disabled]), summary, [tabindex="0"]',
  )
  return [...all].filter(
    (element) =>
      element.checkVisibility({ visibilityProperty: true }) &&
      element.closest('[inert], [hidden]') === null &&
      element.tabIndex >= 0,
  ).length
}

/** What has the focus: whether it is in sight, not covered, and told apart from what has none. */
function focused(): { number: number; name: string; isShown: boolean; isCode: boolean } | undefined {
  const element = document.activeElement
  if (!(element instanceof HTMLElement) || element === document.body) return undefined
  // A number of its own, whatever comes before it meanwhile.
  const number = Number((element.dataset['stop'] ??= String(document.querySelectorAll('[data-stop]').length)))
  const box = element.getBoundingClientRect()
  const inner = {
    x: Math.min(Math.max(box.x + Math.min(box.width / 2, 40), 0), window.innerWidth - 1),
    y: Math.min(Math.max(box.y + Math.min(box.height / 2, 12), 0), window.innerHeight - 1),
  }
  const top = document.elementFromPoint(inner.x, inner.y)
  const isOnTop =
    top !== null && (element.contains(top) || top.contains(element) || top.closest('label')?.control === element)
  const marked = [element, element.parentElement, element.closest('.cm-editor')?.parentElement].some((one) => {
    if (one == null) return false
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one)
    return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
  })
  const isCode = element.classList.contains('cm-content')
  return {
    number,
    name: `${element.tagName} ${element.getAttribute('aria-label') ?? element.textContent?.trim().slice(0, 40)} ${isOnTop ? '' : 'covered'}${marked || isCode ? '' : ' unmarked'}`,
    isShown: isOnTop && (marked || isCode),
    isCode,
  }
}
