import { createServer } from 'node:http'
import { listening } from '@automation/testing/listening'
import { expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { openBrowser, picture, subject, visit } from './browser.ts'

test('a form is used within the page of a site that it names, and shown in no other', async () => {
  let form = ''
  const server = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html')
    answer.end(`<!doctype html><title>A site</title><iframe src="${form}" width="800" height="800"></iframe>`)
  })
  const site = await listening(server)
  const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })
  const made = await client.post<Process & { settings: { publicConfig: { token: string } } }>('/processes', {
    name: 'Feedback',
    sourceCode: 'return `Thank you, ${svc.context.parameters.name}`',
    parametersSchema: { type: 'object', properties: { name: { type: 'string', title: 'Name' } }, required: ['name'] },
    settings: {
      formsConfig: { enabled: true, frameAncestors: [site.url] },
      publicConfig: { enabled: true },
    },
  })
  expect(made.status, made.text).toBe(201)
  form = `${subject.origin}/forms/${subject.team}/${made.body.slug}?token=${made.body.settings.publicConfig.token}`

  const browser = await openBrowser()
  try {
    const { page } = await visit(browser, { isStranger: true })
    await page.goto(`${site.url}/`)
    const frame = page.frameLocator('iframe')
    await frame.getByLabel('Name').fill('Ada')
    await frame.getByRole('button', { name: 'Send' }).click()
    await frame.getByText('Thank you, Ada').waitFor()
    await picture(page, 'embedded-form')

    const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
    await page.goto(`http://localhost:${site.port}/`)
    await refused
    expect(await frame.getByLabel('Name').count()).toBe(0)
  } finally {
    await browser.close()
    await site.close()
  }
})
