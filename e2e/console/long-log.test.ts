import { readFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Execution, Process } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { at, openBrowser, picture, subject, visit } from './browser.ts'

const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })
const LINES = 100_000
/** Of the page's own time, so that other programs of the machine do not count. */
const TASK_MAX_MS = 50

let browser: Browser
let id: string
beforeAll(async () => {
  browser = await openBrowser()
  const made = await client.post<Process>('/processes', {
    name: 'Long log',
    sourceCode: `for (let line = 1; line <= ${LINES}; line += 1) console.log('line ' + line + ' is written')`,
  })
  const { body } = await client.post<{ executionId: string }>(`/processes/${made.body.id}/execute`, {})
  id = body.executionId
  const hasEnded = async () => (await client.get<Execution>(`/executions/${id}`)).body.status === 'FINISHED'
  await waitUntil('the end of the long run', hasEnded, { timeoutMs: 120_000, everyMs: 250 })
})
afterAll(() => browser.close())

test('a log of 100,000 lines loads, scrolls and is searched without a task above 50 ms', async () => {
  const { context, page, complaints } = await visit(browser)
  await page.goto(at(`/executions/${id}`))
  await page.getByText('line 1 is written', { exact: true }).waitFor()
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] })
  const log = page.getByRole('region', { name: 'Log', exact: true })
  await page.getByRole('button', { name: /^Info 100,000/ }).waitFor()
  for (let step = 1; step <= 40; step += 1) {
    await log.evaluate(
      (element, share) =>
        new Promise<void>((resolve) => {
          element.scrollTop = element.scrollHeight * share
          requestAnimationFrame(() => requestAnimationFrame(() => resolve()))
        }),
      step / 40,
    )
  }
  await page.getByText(`line ${LINES} is written`, { exact: true }).waitFor()
  await page.getByRole('searchbox', { name: 'Search the log' }).fill('line 77777 ')
  await page.getByText('1 of 1', { exact: true }).waitFor()
  await page.locator('mark').filter({ hasText: 'line 77777' }).first().waitFor()
  const trace = await browser.stopTracing()
  const longest = longestTaskMs(trace)
  console.log(`the longest task took ${longest} ms`)
  expect(longest).toBeLessThanOrEqual(TASK_MAX_MS)
  await picture(page, 'long-log')
  expect(complaints).toEqual([])
  await context.close()
})

test('chosen lines are a link that leads to them', async () => {
  const { context, page } = await visit(browser)
  await page.goto(`${at(`/executions/${id}`)}#L54321-L54323`)
  await page.getByText('line 54321 is written', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'L54321-L54323' }).waitFor()
  await context.close()
})

test('the whole log is downloaded', async () => {
  const { context, page } = await visit(browser)
  await page.goto(at(`/executions/${id}`))
  await page.getByRole('button', { name: /^Info 100,000/ }).waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ])
  const text = await readFile(await download.path(), 'utf8')
  expect(text.trimEnd().split('\n')).toHaveLength(LINES)
  await context.close()
})

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  /** Microseconds of the processor. */
  tdur?: number
  args?: { name?: string }
}

/** The longest task of a page's main thread, in milliseconds that it had the processor. */
function longestTaskMs(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const main = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) => ph === 'X' && /RunTask/.test(name) && main.has(`${pid} ${tid}`),
  )
  if (tasks.length === 0) throw new Error('The trace has no task of a page')
  return Math.round(Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000)
}
