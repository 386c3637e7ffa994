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

const kinds = [
  { kind: 'process', resource: '/processes', pageOf: (slug: string, _: string) => `/processes/${slug}/edit` },
  { kind: 'module', resource: '/modules', pageOf: (_: string, id: string) => `/modules/${id}` },
]

test.each(kinds)(
  'what is written in a $kind and not saved is there after a reload',
  async ({ kind, resource, pageOf }) => {
    const made = await client.post<{ id: string; slug: string }>(resource, {
      name: `kept-${kind}`,
      sourceCode: '// first',
    })
    expect(made.status, made.text).toBe(201)
    const { id, slug } = made.body
    const { context, page, complaints } = await visit(browser)
    const editor = page.getByRole('textbox', { name: /^Source of/ })

    await page.goto(at(pageOf(slug, id)))
    await editor.focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('// second')
    await page.getByText('Unsaved, kept in this browser').waitFor()
    await page.reload()
    await page.getByText('There is unsaved text of yours').waitFor()
    expect(await editor.textContent()).toBe('// first')
    await page.getByRole('button', { name: 'Go on with it' }).click()
    await expect.poll(() => editor.textContent()).toBe('// second')

    await editor.focus()
    await page.keyboard.press('Control+s')
    await page.getByText(kind === 'module' ? 'The module is saved' : `${slug} is saved`).waitFor()
    expect((await client.get<{ sourceCode: string }>(`${resource}/${id}`)).body.sourceCode).toBe('// second')
    await page.reload()
    await expect.poll(() => editor.textContent()).toBe('// second')
    expect(await page.getByText('There is unsaved text of yours').count()).toBe(0)
    expect(complaints).toEqual([])
    await context.close()
  },
)
