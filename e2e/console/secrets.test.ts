import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { at, openBrowser, subject, visit } from './browser.ts'

const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('a password is neither kept in the browser nor in a copied call, of a run or of a rerun', async () => {
  const text = { type: 'string' }
  const secret = { type: 'string', format: 'password' }
  const made = await client.post<Process>('/processes', {
    name: 'With a password',
    sourceCode: 'return 1',
    parametersSchema: {
      type: 'object',
      properties: { name: text, password: secret, shop: { type: 'object', properties: { url: text, key: secret } } },
    },
  })
  expect(made.status, made.text).toBe(201)
  const { context, page } = await visit(browser)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: subject.origin })
  const kept = () => page.evaluate(() => JSON.stringify(Object.entries(localStorage)))
  const copied = async () => {
    await page.getByRole('button', { name: 'curl', exact: true }).last().click()
    return page.evaluate(() => navigator.clipboard.readText())
  }

  await page.goto(at(`/processes/${made.body.slug}/edit`))
  await page.getByLabel('name', { exact: true }).fill('ada-run')
  await page.getByLabel('password', { exact: true }).fill('hidden-1')
  await page.getByLabel('key', { exact: true }).fill('hidden-2')
  const command = await copied()
  expect(command).toContain('ada-run')
  expect(command).not.toContain('hidden')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await expect.poll(kept).toContain('ada-run')
  expect(await kept()).not.toContain('hidden')

  const run = await client.post<{ executionId: string }>(`/processes/${made.body.slug}/execute`, {
    parameters: { name: 'ada', password: 'hidden-1', shop: { key: 'hidden-2' } },
  })
  await page.goto(at(`/executions/${run.body.executionId}`))
  await page.getByRole('button', { name: 'Rerun…' }).click()
  const field = page.getByRole('textbox', { name: 'Parameters', exact: true })
  await field.fill((await field.inputValue()).replace('ada', 'ada-rerun'))
  const again = await copied()
  expect(again).toContain('ada-rerun')
  expect(again).not.toContain('hidden')
  await page.getByRole('button', { name: 'Run with these parameters' }).click()
  await expect.poll(kept).toContain('ada-rerun')
  expect(await kept()).not.toContain('hidden')
  await context.close()
})
