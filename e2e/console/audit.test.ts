import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { at, openBrowser, picture, subject, visit } from './browser.ts'

const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('the audit names what something was done to, and has the id of what is gone', async () => {
  // What other tests do meanwhile fills the first page, so both are new.
  const stays = await makeProcess('stays')
  const { id, slug } = await makeProcess('soon gone')
  const { context, page } = await visit(browser)
  const row = page.getByRole('row').filter({ hasText: id }).first()
  await page.goto(at('/audit?type=PROCESS'))
  await row.getByRole('link', { name: slug, exact: true }).waitFor()
  await page.getByRole('link', { name: stays.slug, exact: true }).first().waitFor()
  await picture(page, 'audit-names')
  expect((await client.call('DELETE', `/processes/${id}`)).status).toBe(200)
  await page.reload()
  await row.getByRole('link', { name: id, exact: true }).waitFor()
  expect(await page.getByRole('link', { name: slug, exact: true }).count()).toBe(0)
  await page.goto(at('/audit?type=TOKEN'))
  await page.getByRole('row').filter({ hasText: 'reporting' }).first().waitFor()
  await context.close()
})

async function makeProcess(name: string): Promise<Process> {
  const made = await client.post<Process>('/processes', { name, sourceCode: 'return 1' })
  expect(made.status, made.text).toBe(201)
  return made.body
}
