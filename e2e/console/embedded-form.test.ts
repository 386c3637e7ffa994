import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { openBrowser, picture, subject, visit } from './browser.ts'

test('a form is used within the page of a site that it names, and shown in no other', async () => {
  let form = ''
  const site = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html')
    answer.end(`<!doctype html><title>A site</title><iframe src="${form}" width="800" height="800"></iframe>`)
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  const { port } = site.address() as AddressInfo
  const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })
  const made = await client.post<Process & { settings: { publicConfig: { token: string } } }>('/processes', {
    name: 'Feedback',
    sourceCode: 'return `Thank you, ${svc.context.parameters.name}`',
    parametersSchema: { type: 'object', properties: { name: { type: 'string', title: 'Name' } }, required: ['name'] },
    settings: {
      formsConfig: { enabled: true, frameAncestors: [`http://127.0.0.1:${port}`] },
      publicConfig: { enabled: true },
    },
  })
  expect(made.status, made.text).toBe(201)
  form = `${subject.origin}/forms/${subject.team}/${made.body.slug}?token=${made.body.settings.publicConfig.token}`

  const browser = await openBrowser()
  try {
    const { page } = await visit(browser, { isStranger: true })
    await page.goto(`http://127.0.0.1:${port}/`)
    const frame = page.frameLocator('iframe')
    await frame.getByLabel('Name').fill('Ada')
    await frame.getByRole('button', { name: 'Send' }).click()
    await frame.getByText('Thank you, Ada').waitFor()
    await picture(page, 'embedded-form')

    const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
    await page.goto(`http://localhost:${port}/`)
    await refused
    expect(await frame.getByLabel('Name').count()).toBe(0)
  } finally {
    await browser.close()
    site.close()
  }
})
