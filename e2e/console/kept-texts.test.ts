import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import { at, crash, openBrowser, openProfile, picture, subject, visit } from './browser.ts'

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

test('what is written and not saved is back at once on a change of tabs, and an open offer is not overwritten', async () => {
  const made = await client.post<{ id: string; slug: string }>('/processes', {
    name: 'kept through tabs',
    sourceCode: '// first',
  })
  expect(made.status, made.text).toBe(201)
  const { context, page, complaints } = await visit(browser)
  const editor = page.getByRole('textbox', { name: /^Source of/ })
  const write = async (text: string) => {
    await editor.focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(text)
    await page.getByText('Unsaved, kept in this browser').waitFor()
  }
  const offer = page.getByText('There is unsaved text of yours')
  await page.goto(at(`/processes/${made.body.slug}/edit`))
  await write('// second')
  for (const text of ['// second', '// third']) {
    await write(text)
    await page.getByRole('link', { name: 'Versions', exact: true }).click()
    await page.getByText('No versions yet').waitFor()
    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await editor.waitFor()
    expect(await editor.textContent()).toBe(text)
    expect(await offer.count()).toBe(0)
  }
  await page.reload()
  await offer.waitFor()
  await write('// fourth')
  await page.reload()
  await page.getByRole('button', { name: 'Go on with it' }).click()
  await expect.poll(() => editor.textContent()).toBe('// fourth')
  await page.reload()
  await page.getByRole('button', { name: 'Forget it' }).click()
  await page.reload()
  await page.getByRole('button', { name: 'Go on with it' }).click()
  await expect.poll(() => editor.textContent()).toBe('// third')
  expect(complaints).toEqual([])
  await context.close()
})

test('what is written and not saved is there after the browser has crashed', async () => {
  const made = await client.post<{ id: string; slug: string }>('/processes', {
    name: 'kept through a crash',
    sourceCode: '// first',
  })
  expect(made.status, made.text).toBe(201)
  const address = at(`/processes/${made.body.slug}/edit`)
  const profile = await mkdtemp(join(tmpdir(), 'console-profile-'))
  try {
    const before = await openProfile(profile)
    await before.page.goto(address)
    await before.page.getByRole('textbox', { name: /^Source of/ }).focus()
    await before.page.keyboard.press('Control+a')
    await before.page.keyboard.type('// second')
    await before.page.getByText('Unsaved, kept in this browser').waitFor()
    await crash(before.context, profile)

    const { context, page } = await openProfile(profile)
    await page.goto(address)
    const editor = page.getByRole('textbox', { name: /^Source of/ })
    await page.getByRole('button', { name: 'Go on with it' }).click()
    await expect.poll(() => editor.textContent()).toBe('// second')
    expect((await client.get<{ sourceCode: string }>(`/processes/${made.body.id}`)).body.sourceCode).toBe('// first')
    await context.close()
  } finally {
    await rm(profile, { recursive: true, force: true })
  }
})

const processOf = async (name: string) => {
  const made = await client.post<{ id: string; slug: string }>('/processes', { name, sourceCode: '// first' })
  expect(made.status, made.text).toBe(201)
  return made.body
}

test('a readme that is not saved is there after another tab and after a reload, until it is saved', async () => {
  const { id, slug } = await processOf('kept readme')
  const { context, page, complaints } = await visit(browser)
  const field = page.getByLabel('Readme, as Markdown')
  const offer = page.getByText('There is unsaved text of yours')
  await page.goto(at(`/processes/${slug}/readme`))
  await page.getByRole('button', { name: 'Write a readme' }).click()
  await field.fill('# What it does')
  await page.getByRole('link', { name: 'Versions', exact: true }).click()
  await page.getByText('No versions yet').waitFor()
  await page.getByRole('link', { name: 'Readme', exact: true }).click()
  await expect.poll(() => field.inputValue()).toBe('# What it does')
  await page.getByText('Unsaved, kept in this browser').waitFor()
  await page.reload()
  await offer.waitFor()
  await picture(page, 'readme-offered')
  await page.getByRole('button', { name: 'Go on with it' }).click()
  await expect.poll(() => field.inputValue()).toBe('# What it does')
  await picture(page, 'readme-unsaved')

  await client.patch(`/processes/${id}`, { readme: '# Of somebody else' })
  await page.getByText('Changed by that in this form: Readme. You have changed Readme, too.').waitFor()
  await page.getByRole('button', { name: 'Keep mine, to save over it' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('The readme is saved').waitFor()
  await page.getByRole('heading', { name: 'What it does' }).waitFor()
  expect((await client.get<{ readme: string }>(`/processes/${id}`)).body.readme).toBe('# What it does')
  await page.reload()
  await page.getByRole('heading', { name: 'What it does' }).waitFor()
  expect(await offer.count()).toBe(0)
  expect(complaints).toEqual([])
  await context.close()
})

test.each([
  { tab: 'settings', label: 'Description' },
  { tab: 'webhook', label: 'User name' },
])('what is typed into $tab and not saved is not left without a question', async ({ tab, label }) => {
  const { slug } = await processOf(`asks at ${tab}`)
  const { context, page } = await visit(browser)
  const field = page.getByLabel(label, { exact: true })
  const leave = () => page.getByRole('link', { name: 'Versions', exact: true }).click()
  const question = page.getByRole('dialog', { name: 'Leave without saving?' })
  await page.goto(at(`/processes/${slug}/${tab}`))
  await field.fill('typed')
  await leave()
  await question.waitFor()
  await picture(page, `leave-${tab}`)
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'detached' })
  expect(await field.inputValue()).toBe('typed')
  const asked = page.waitForEvent('dialog')
  const reloaded = page.reload()
  await (await asked).accept()
  await reloaded
  await field.fill('typed')
  await leave()
  await question.getByRole('button', { name: 'Leave' }).click()
  await page.getByText('No versions yet').waitFor()
  await context.close()
})

test('who signs out with unsaved settings is asked before, and not after', async () => {
  const { slug } = await processOf('asks before a sign-out')
  // With a session of its own, as that ends.
  const { context, page } = await visit(browser, { isStranger: true })
  const question = page.getByRole('dialog', { name: 'Sign out without saving?' })
  await page.goto(at(`/processes/${slug}/settings`))
  await page.getByLabel('API token').fill(subject.apiToken)
  await page.keyboard.press('Enter')
  await page.getByLabel('Description', { exact: true }).fill('typed')
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(await page.getByLabel('Description', { exact: true }).inputValue()).toBe('typed')
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await question.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await context.close()
})

test('the unsaved source and readme of a process that somebody deletes can still be copied', async () => {
  const { id, slug } = await processOf('deleted under the hands')
  const { context, page } = await visit(browser)
  await page.goto(at(`/processes/${slug}/readme`))
  await page.getByRole('button', { name: 'Write a readme' }).click()
  await page.getByLabel('Readme, as Markdown').fill('# My readme')
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByRole('textbox', { name: /^Source of/ }).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('// my source')
  await client.delete(`/processes/${id}`)
  await page.getByText(`There is no process ${slug}`).waitFor()
  expect(await page.getByRole('region', { name: 'unsaved source', exact: true }).textContent()).toContain(
    '// my source',
  )
  expect(await page.getByRole('region', { name: 'unsaved readme', exact: true }).textContent()).toContain('# My readme')
  await picture(page, 'deleted-process')
  await context.close()
})

test('the unsaved source of a module that somebody deletes can still be copied', async () => {
  const made = await client.post<{ id: string }>('/modules', { name: 'deleted-module', sourceCode: '// first' })
  const { context, page } = await visit(browser)
  await page.clock.install()
  await page.goto(at(`/modules/${made.body.id}`))
  await page.getByRole('textbox', { name: /^Source of/ }).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('// my source')
  await client.delete(`/modules/${made.body.id}`)
  // What is older than a quarter of a minute is read anew.
  await page.clock.fastForward(20_000)
  await page.getByRole('link', { name: 'Variables', exact: true }).click()
  await page.getByRole('heading', { name: 'Variables', level: 1 }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'There is no such module' }).waitFor()
  expect(await page.getByRole('region', { name: 'unsaved source', exact: true }).textContent()).toContain(
    '// my source',
  )
  await picture(page, 'deleted-module')
  await context.close()
})
