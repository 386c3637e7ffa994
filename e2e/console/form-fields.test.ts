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

async function make(input: object): Promise<Process> {
  const made = await client.post<Process>('/processes', input)
  expect(made.status, made.text).toBe(201)
  return made.body
}

test('a file as OpenAPI writes it, and a list of lists beside it, are taken by a team that enforces schemas', async () => {
  const { slug } = await make({
    name: 'Rows and a file',
    sourceCode: 'const { rows, plan } = svc.context.parameters\nreturn `${JSON.stringify(rows)} of ${plan.filename}`',
    parametersSchema: {
      type: 'object',
      required: ['rows', 'plan'],
      properties: {
        rows: { type: 'array', title: 'Rows', items: { type: 'array', items: { type: 'integer' } } },
        plan: { type: 'string', format: 'binary', title: 'Plan' },
      },
    },
    settings: { formsConfig: { enabled: true } },
  })
  const enforce = async (paramsSchemaValidationEnabled: boolean) =>
    expect((await client.patch('/team', { paramsSchemaValidationEnabled })).status).toBe(200)
  await enforce(true)
  const { context, page, complaints } = await visit(browser)
  await page.goto(`${subject.origin}/forms/${subject.team}/${slug}`)
  const rows = page.getByRole('group', { name: 'Rows *' })
  for (const [row, numbers] of [['1', '2'], ['3']].entries()) {
    await rows.getByRole('button', { name: 'Add' }).last().click()
    const one = rows.getByRole('group', { name: String(row + 1), exact: true })
    for (const [index, number] of numbers.entries()) {
      await one.getByRole('button', { name: 'Add' }).click()
      await one.getByLabel(String(index + 1), { exact: true }).fill(number)
    }
  }
  const buffer = Buffer.from('four walls')
  await page.getByLabel('Plan *').setInputFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer })
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('[[1,2],[3]] of plan.txt').waitFor()
  await enforce(false)
  expect(complaints).toEqual([])
  await context.close()
})

test('a default beyond the numbers of JavaScript is shown and sent digit by digit', async () => {
  const digits = { whole: '12345678901234567890', part: '0.12345678901234567891' }
  const { id, slug } = await make({
    name: 'Long numbers',
    sourceCode: 'return 1',
    parametersSchema:
      `{"type":"object","properties":{"whole":{"type":"integer","default":${digits.whole}},` +
      `"part":{"type":"number","default":${digits.part}}}}`,
  })
  const { context, page, complaints } = await visit(browser)
  await page.goto(at(`/processes/${slug}/edit`))
  await expect.poll(() => page.getByLabel('whole').inputValue()).toBe(digits.whole)
  await expect.poll(() => page.getByLabel('part').inputValue()).toBe(digits.part)
  await page.getByRole('button', { name: /^Run/ }).click()
  const runs = async () => (await client.get(`/executions?processId=${id}`)).text
  await expect.poll(runs).toContain(`"whole":${digits.whole}`)
  expect(await runs()).toContain(`"part":${digits.part}`)
  expect(complaints).toEqual([])
  await context.close()
})
