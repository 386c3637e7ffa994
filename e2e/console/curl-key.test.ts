import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { at, openBrowser, subject, visit } from './browser.ts'

const { greeting, failing, finished, failed, moduleId, sandbox } = subject.scene

/** Pages with what the call reads that `y` copies there. */
const pages: [path: string, reads: string][] = [
  ['', '/processes/summaries'],
  ['/processes?q=greet', '/processes/summaries?keywords=greet'],
  [`/processes/${greeting.slug}/versions`, `/processes/${greeting.slug}/versions`],
  [`/processes/${greeting.slug}/schedules`, '/schedules?processId='],
  [`/processes/${greeting.slug}/readme`, `/processes/${greeting.slug}`],
  [`/processes/${greeting.slug}/dependencies`, `/processes/${greeting.slug}`],
  [`/processes/${greeting.slug}/settings`, `/processes/${greeting.slug}`],
  [`/executions?process=${failing.slug}&status=ERROR,KILLED`, 'status=ERROR&status=KILLED'],
  [`/executions/${failed}`, `/executions/${failed}`],
  [`/executions/${failed}?tab=source`, `/executions/${failed}/source`],
  [`/executions/${failed}?tab=children`, `/executions/${failed}/children`],
  [`/executions/compare?a=${finished}&b=${failed}`, `/executions/${failed}`],
  ['/schedules', '/schedules'],
  ['/schedules?view=calendar', '/schedules/firings?from='],
  ['/modules', '/modules'],
  [`/modules/${moduleId}?tab=users`, `/modules/${moduleId}/users`],
  ['/variables', '/variables'],
  ['/dependencies?language=PYTHON', '/dependencies/PYTHON'],
  ['/storage?prefix=reports/', '/storage/objects?prefix=reports%2F'],
  ['/storage?tab=datastore', '/datastore'],
  ['/sandboxes', '/sandboxes'],
  [`/sandboxes/${sandbox.id}`, `/sandboxes/${sandbox.id}`],
  ['/usage?by=process', '/usage?by=process'],
  ['/audit?type=PROCESS', '/audit-events?type=PROCESS'],
  ['/tokens', '/auth/service-accounts'],
  ['/settings', '/team'],
]

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('y copies a call on every page that reads what the page shows, without a token', async () => {
  const { context, page } = await visit(browser)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: subject.origin })
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  for (const [path, reads] of pages) {
    await page.goto(at(path))
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.evaluate(() => navigator.clipboard.writeText(''))
    const press = async () => {
      await page.keyboard.press('y')
      return copied()
    }
    await expect.poll(press, { message: path }).toContain(reads)
    const command = await copied()
    expect(command, path).toContain('Bearer $token')
    const address = /'(http[^']+)'/.exec(command)?.[1] ?? ''
    const answer = await fetch(address, { headers: { authorization: `Bearer ${subject.accessToken}` } })
    expect(answer.status, `${path}: ${command}`).toBe(200)
  }
  await context.close()
})

test('y copies what the editor would run, and how the webhook is called', async () => {
  const { context, page } = await visit(browser)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: subject.origin })
  const press = async () => {
    await page.keyboard.press('y')
    return page.evaluate(() => navigator.clipboard.readText())
  }
  await page.goto(at(`/processes/${greeting.slug}/edit`))
  await page.getByRole('form', { name: 'Run' }).waitFor()
  await expect.poll(press).toContain(`/processes/${greeting.slug}/execute'`)
  await page.goto(at(`/processes/${greeting.slug}/webhook`))
  await page.getByRole('region', { name: 'Call it' }).waitFor()
  await expect.poll(press).toContain(`/webhooks/${greeting.slug}`)
  await context.close()
})

test('where the browser has no clipboard, as over http on another host than localhost, a copy says so', async () => {
  const { context, page } = await visit(browser)
  await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await page.goto(at('/variables'))
  await page.getByText('GREETING', { exact: true }).waitFor()
  await page.keyboard.press('y')
  await page.getByText('The browser does not let the console copy').waitFor()
  await context.close()
})
