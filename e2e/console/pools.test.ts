import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Execution, Process } from '../client/records.ts'
import { runAdmin } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { at, openBrowser, picture, subject, visit } from './browser.ts'
import { faultsOfAxe, widthBeyond } from './readable.ts'

const pool = 'plant-north'
const { host, team, accessToken, env } = subject
const client = new Client({ host, team, accessToken })
const patience = { timeoutMs: 60_000, everyMs: 200 }

let browser: Browser
let holder: Process
let running: string
let waiting: string[]

beforeAll(async () => {
  expect((await runAdmin(['pools', 'create', pool, '--team', team], env)).code).toBe(0)
  const sourceCode = 'await new Promise((done) => setTimeout(done, 10 * 60_000))'
  holder = (await client.post<Process>('/processes', { name: 'Holds a slot', sourceCode })).body
  running = await started({ timeout: 600_000 }, 'RUNNING')
  waiting = [await started({ agentPoolSlug: pool }, 'QUEUED'), await started({ agentPoolSlug: pool }, 'QUEUED')]
  browser = await openBrowser()
})

// The process stays: Home of other tests may have counted its runs, and asks for its name.
afterAll(async () => {
  await browser?.close()
  for (const id of [running, ...(waiting ?? [])]) await client.put(`/executions/${id}/kill`)
  const isGone = async () => (await runAdmin(['pools', 'delete', pool], env)).code === 0
  await waitUntil('the pool to be deleted', isGone, patience)
})

async function started(settings: object, wanted: Execution['status']): Promise<string> {
  const path = `/processes/${holder.id}/execute`
  const { status, text, body } = await client.post<{ executionId: string }>(path, { settings })
  expect(status, text).toBe(202)
  const isSo = async () => (await client.get<Execution>(`/executions/${body.executionId}`)).body.status === wanted
  await waitUntil(`the run to be ${wanted}`, isSo, patience)
  return body.executionId
}

const rowOf = (page: Page, name: string) =>
  page.getByRole('table', { name: 'Pools of runners' }).getByRole('row').filter({ hasText: name })

test.each([
  { theme: 'light', width: 1440 },
  { theme: 'dark', width: 768 },
  { theme: 'light', width: 360 },
  { theme: 'dark', width: 360 },
] as const)(
  'in $theme at $width pixels the settings tell of each pool whether runners are there, its slots in use and what waits',
  async (look) => {
    const { context, page, complaints } = await visit(browser, look)
    await page.goto(at('/settings'))
    const shared = rowOf(page, 'default')
    await shared.getByText('JavaScript').waitFor()
    expect(await shared.getByRole('progressbar').count()).toBe(1)
    expect(await shared.textContent()).toMatch(/[1-9]\d* of 64/)
    const own = rowOf(page, pool)
    await own.getByRole('link', { name: '2', exact: true }).waitFor()
    expect(await own.textContent()).toContain('No runner connected')
    await picture(page, `pools-${look.theme}-${look.width}`)
    expect(await widthBeyond(page)).toBe(0)
    expect(await faultsOfAxe(page)).toEqual([])
    expect(complaints).toEqual([])
    await context.close()
  },
)

test('the runs that wait are shown as they come and go, and their number leads to them', async () => {
  const { context, page } = await visit(browser)
  await page.goto(at('/settings'))
  const own = rowOf(page, pool)
  await own.getByRole('link', { name: '2', exact: true }).waitFor()
  await client.put(`/executions/${waiting[0]}/kill`)
  await own.getByRole('link', { name: '1', exact: true }).click()
  await page.getByRole('table', { name: 'Executions, newest first' }).getByText('Holds a slot').waitFor()
  await context.close()
})
