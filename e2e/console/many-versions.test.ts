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

test('of a process with more than a hundred versions the first one can be chosen, and is named where an alias leads to it', async () => {
  const { slug } = (await client.post<Process>('/processes', { name: 'Often published', sourceCode: 'return 1' })).body
  const first = await client.post<{ id: string }>(`/processes/${slug}/versions`, { tag: 'v1' })
  for (let number = 2; number <= 104; number += 1) {
    const { status, text } = await client.post(`/processes/${slug}/versions`, { tag: `v${number}` })
    expect(status, text).toBe(201)
  }
  const alias = await client.post(`/processes/${slug}/aliases`, { name: 'prod', versionId: first.body.id })
  expect(alias.status, alias.text).toBe(201)

  const { context, page } = await visit(browser)
  await page.goto(at(`/processes/${slug}/versions`))
  const row = page.getByRole('table', { name: 'Aliases' }).getByRole('row').nth(1)
  await row.getByText('v1', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Publish…' }).click()
  await page.getByText('leads to v1', { exact: true }).waitFor()
  await page.goto(at(`/processes/${slug}/edit`))
  await page
    .getByLabel('Run', { exact: true })
    .getByRole('option', { name: 'v1', exact: true })
    .waitFor({ state: 'attached' })
  await page.goto(at(`/executions?process=${slug}`))
  await page.getByLabel('Version').getByRole('option', { name: 'v1', exact: true }).waitFor({ state: 'attached' })
  await context.close()
})
