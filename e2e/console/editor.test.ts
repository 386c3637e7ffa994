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

async function make(name: string, fields: object = {}): Promise<Process> {
  const made = await client.post<Process>('/processes', { name, sourceCode: 'return 1', ...fields })
  expect(made.status, made.text).toBe(201)
  return made.body
}

test('the editor offers the members of svc, and marks what is wrong at its line', async () => {
  const { slug } = await make('Completed')
  const { context, page, complaints } = await visit(browser)
  await page.goto(at(`/processes/${slug}/edit`))
  const editor = page.getByRole('textbox', { name: /^Source of/ })
  await editor.focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('svc.sto')
  const offered = page.getByRole('option', { name: /^storage/ })
  await offered.waitFor()
  await picture(page, 'editor-completion')
  // An Enter that comes too soon after the list is meant for the text.
  await offered.click()
  await expect.poll(() => editor.textContent()).toBe('svc.storage')
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('const a = 1\nconst = 2\nreturn a')
  await page.getByRole('button', { name: 'Line 2' }).waitFor()
  await page.locator('.cm-lint-marker-error').first().waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('text from right to left turns no code around it, and a character that cannot be seen has a mark', async () => {
  const { slug } = await make('Turned', { sourceCode: "console.log('مرحبا', 7)\nreturn 1 // \u202E" })
  const { context, page } = await visit(browser)
  await page.goto(at(`/processes/${slug}/edit`))
  const line = page.locator('.cm-line', { hasText: 'console.log' })
  await line.waitFor()
  const leftOf = (text: string) =>
    line.evaluate((element, wanted) => {
      const range = document.createRange()
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
      while (texts.nextNode()) {
        const { textContent } = texts.currentNode
        const start = textContent?.indexOf(wanted) ?? -1
        if (start < 0) continue
        range.setStart(texts.currentNode, start)
        range.setEnd(texts.currentNode, start + 1)
        return range.getBoundingClientRect().left
      }
      throw new Error(`There is no ${wanted}`)
    }, text)
  expect(await leftOf('7')).toBeGreaterThan(await leftOf('م'))
  await page.locator('.cm-specialChar').waitFor()
  await context.close()
})

test('the form of the parameters is that of the schema, and says what is wrong before a run', async () => {
  const { slug } = await make('Asked', {
    sourceCode: 'return svc.context.parameters.count * 2',
    parametersSchema: {
      type: 'object',
      properties: { count: { type: 'integer', title: 'Count', maximum: 9 } },
      required: ['count'],
    },
  })
  const { context, page } = await visit(browser)
  await page.goto(at(`/processes/${slug}/edit`))
  const count = page.getByLabel(/^Count/)
  await count.fill('12')
  await page.keyboard.press('Control+Enter')
  await expect.poll(() => count.getAttribute('aria-invalid')).toBe('true')
  await count.fill('4')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('region', { name: 'Outcome' }).getByText('8', { exact: true }).waitFor()
  await context.close()
})

test('a form of a schema that contains itself asks for JSON where it would begin anew', async () => {
  const { slug } = await make('Trees', {
    sourceCode: 'return svc.context.parameters.left.name',
    parametersSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, left: { $ref: '#' }, right: { $ref: '#' } },
    },
  })
  const { context, page } = await visit(browser)
  await page.goto(at(`/processes/${slug}/edit`))
  const form = page.getByRole('form', { name: 'Run' })
  await form.getByLabel('left').fill('{"name": "leaf"}')
  expect(await form.getByLabel('name').count()).toBe(1)
  await page.keyboard.press('Control+Enter')
  await page.getByRole('region', { name: 'Outcome' }).getByText('"leaf"').waitFor()
  await context.close()
})

test('a second run follows the first, and the editor is left after it', async () => {
  const { slug } = await make('Run twice', { sourceCode: "return 'words ' + 1" })
  const { context, page, complaints } = await visit(browser)
  await page.goto(at(`/processes/${slug}/edit`))
  const editor = page.getByRole('textbox', { name: /^Source of/ })
  for (const turn of [1, 2]) {
    await editor.focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(`return 'words ' + ${turn}`)
    await page.keyboard.press('Control+Enter')
    await page.getByRole('region', { name: 'Outcome' }).getByText(`words ${turn}`).waitFor()
  }
  await page.getByRole('link', { name: 'Versions', exact: true }).click()
  await page.getByText('No versions yet').waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('what two have changed is shown in three sides, and nothing is lost', async () => {
  const { id, slug } = await make('Contested')
  const { context, page } = await visit(browser)
  await page.goto(at(`/processes/${slug}/edit`))
  const editor = page.getByRole('textbox', { name: /^Source of/ })
  await editor.focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('return "mine"')
  await client.patch(`/processes/${id}`, { sourceCode: 'return "theirs"' })
  await page.keyboard.press('Control+s')
  const sides = page.getByRole('group', { name: 'What is compared' })
  await sides.waitFor()
  for (const side of ['Theirs and yours', 'What they changed', 'What you changed'])
    await sides.getByRole('button', { name: side }).waitFor()
  await page.getByText('return "theirs"').first().waitFor()
  await picture(page, 'three-sides')
  const stored = async () => (await client.get<Process>(`/processes/${id}`)).body.sourceCode
  expect(await stored()).toBe('return "theirs"')
  await page
    .getByRole('button', { name: /overwrite|save mine|mine/i })
    .first()
    .click()
  await expect.poll(stored).toBe('return "mine"')
  await context.close()
})

test('a run is copied as curl and as process code, without a token', async () => {
  const { context, page } = await visit(browser)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: subject.origin })
  await page.goto(at(`/processes/${subject.scene.greeting.slug}/edit`))
  await page.getByLabel(/^Name/).fill('Ada')
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  await page.getByRole('button', { name: 'curl' }).click()
  await expect.poll(copied).toContain(`"parameters":{"name":"Ada"}`)
  expect(await copied()).toContain('Bearer $token')
  await page.getByRole('button', { name: 'svc code' }).click()
  await expect.poll(copied).toContain('svc.processes.runSync("greeting"')
  await context.close()
})

test('the palette takes a cron and a curl command to the pages that they are for', async () => {
  const { context, page } = await visit(browser)
  await page.goto(at(''))
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  const find = async (text: string, option: RegExp) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill(text)
    await page.getByRole('option', { name: option }).first().waitFor()
    await page.keyboard.press('Enter')
  }
  await find('15 4 * * *', /Schedule/)
  await expect.poll(() => page.getByLabel('Cron', { exact: true }).inputValue()).toBe('15 4 * * *')
  const { slug } = subject.scene.greeting
  await find(`curl -d '{"name":"pasted"}' ${client.webhooks}/${slug}`, /Try the webhook/)
  await page.getByText('"pasted"').first().waitFor()
  await context.close()
})
