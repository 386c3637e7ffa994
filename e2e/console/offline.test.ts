import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import { at, openBrowser, subject, visit } from './browser.ts'

const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('what is given up without a connection does not happen once there is one', async () => {
  const { id } = (await client.post<{ id: string }>('/variables', { key: 'GIVEN_UP', value: 'kept' })).body
  const { context, page } = await visit(browser)
  await page.goto(at('/variables'))
  await page.getByRole('button', { name: 'Delete GIVEN_UP' }).click()
  const dialog = page.getByRole('dialog')
  await context.setOffline(true)
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog.getByRole('alert').getByText("The service can't be reached.").waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await context.setOffline(false)
  await page.reload()
  await page.getByText('GIVEN_UP', { exact: true }).waitFor()
  expect((await client.get(`/variables/${id}`)).status).toBe(200)
  await context.close()
})

test('a page that is first opened without a connection says that it is missing, and is there with one', async () => {
  const { context, page } = await visit(browser)
  await page.goto(at('/variables'))
  await page.getByText('GREETING', { exact: true }).waitFor()
  await context.setOffline(true)
  await page.getByRole('link', { name: 'Usage', exact: true }).click()
  const fault = page.getByRole('alert').getByText(/Check your connection/)
  await fault.waitFor()
  expect(await page.getByText('This is a fault of the console').count()).toBe(0)
  await context.setOffline(false)
  await page.getByRole('button', { name: 'Load the page again' }).click()
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
  await context.close()
})
