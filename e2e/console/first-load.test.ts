import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { at, openBrowser, subject, visit, withoutStream } from './browser.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('the first page asks once who is signed in and at once for what its cards show, before its scripts run', async () => {
  const visited = await visit(browser)
  const { context, page, complaints } = visited
  // What other tests take away meanwhile is not told.
  await withoutStream(visited)
  const order: string[] = []
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url())
    if (origin === subject.origin) order.push(`asks ${pathname}`)
  })
  const rest = `/api/${subject.team}/rest`
  // The pages' scripts come only when all has been asked for, and the first answer only when the others have been asked for.
  const askedFor = async (path: string) => {
    await expect.poll(() => order.some((one) => one.startsWith(`asks ${path}`))).toBe(true)
  }
  const cards = async () => {
    await askedFor(`${rest}/limits`)
    await askedFor(`${rest}/executions/statistics`)
  }
  await page.route('**/assets/start-*.js', async (route) => {
    await askedFor('/session')
    await cards()
    await route.continue()
  })
  await page.route('**/rest/processes/summaries?*', async (route) => {
    await cards()
    await route.continue()
  })
  await page.goto(at(''))
  await page.getByRole('heading', { name: 'Last failures' }).waitFor()
  expect(order.filter((one) => one === 'asks /session')).toEqual(['asks /session'])
  expect(complaints).toEqual([])
  await context.close()
})

test('what Home shows of the team that was open last is asked for before its scripts come, and once', async () => {
  const visited = await visit(browser)
  const { context, page, complaints } = visited
  await withoutStream(visited)
  await page.addInitScript((team) => localStorage.setItem('kept:team', JSON.stringify([team])), subject.team)
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/api/')) asked.push(pathname.split('/rest/')[1] + search)
  })
  const early = ['processes/summaries?', 'executions?', 'executions/statistics?', 'limits']
  const isAsked = (start: string) => asked.some((one) => one.startsWith(start))
  await page.route('**/assets/start-*.js', async (route) => {
    await expect.poll(() => early.every(isAsked)).toBe(true)
    await route.continue()
  })
  await page.goto(at(''))
  await page.getByRole('link', { name: 'Failing order' }).first().waitFor()
  // Limits are asked for again with time.
  const once = asked.filter((one) => early.some((start) => one.startsWith(start)) && one !== 'limits')
  expect(once.toSorted()).toEqual([...new Set(once)].toSorted())
  expect(complaints).toEqual([])
  await context.close()
})

test('an answer that came too early to be good is asked for again', async () => {
  const visited = await visit(browser)
  const { context, page } = visited
  await withoutStream(visited)
  await page.addInitScript((team) => localStorage.setItem('kept:team', JSON.stringify([team])), subject.team)
  await page.route('**/rest/processes/summaries?*', (route) => route.fulfill({ status: 401, json: {} }), { times: 1 })
  await page.goto(at(''))
  await page.getByRole('heading', { name: 'Last failures' }).waitFor()
  await context.close()
})

test('the files of a page are asked for beside those of all pages', async () => {
  const { context, page, complaints } = await visit(browser)
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const own = () => asked.filter((path) => /^\/assets\/executions-page-.*\.(?:js|css)$/.test(path))
  await page.route('**/assets/start-*.js', async (route) => {
    await expect.poll(() => own().length).toBe(2)
    await route.continue()
  })
  await page.goto(at('/executions'))
  await page.getByRole('table', { name: 'Executions, newest first' }).waitFor()
  expect(own().length).toBe(2)
  expect(complaints).toEqual([])
  await context.close()
})

test('the frame of the pages is drawn before their scripts and styles come, in the theme that was chosen', async () => {
  const { context, page, complaints } = await visit(browser, { theme: 'light' })
  await page.addInitScript(() => localStorage.setItem('theme', 'dark'))
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/assets/**', async (route) => {
    await released
    await route.continue()
  })
  await page.goto(at(''), { waitUntil: 'commit' })
  const frame = page.locator('#first-frame')
  await frame.getByText('Executions').waitFor()
  await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0)
  expect(await frame.evaluate((element) => getComputedStyle(element).colorScheme)).toBe('dark')
  release()
  await page.getByRole('heading', { name: 'Last failures' }).waitFor()
  expect(await frame.count()).toBe(0)
  expect(complaints).toEqual([])
  await context.close()
})

test('visitors of a form and of the sign-in see nothing of that frame', async () => {
  const { context, page } = await visit(browser, { isStranger: true })
  for (const address of [`${subject.origin}/forms/${subject.scene.form}`, `${subject.origin}/sign-in`]) {
    await page.goto(address, { waitUntil: 'commit' })
    await page.locator('#first-frame').waitFor({ state: 'hidden' })
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.locator('#first-frame').isVisible()).toBe(false)
  }
  await context.close()
})
