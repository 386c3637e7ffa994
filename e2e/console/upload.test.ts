import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import { at, openBrowser, picture, subject, visit } from './browser.ts'

const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })
/** Above it a file goes in parts. */
const sizeBytes = 66 * 1_048_576

let browser: Browser
let folder: string
beforeAll(async () => {
  browser = await openBrowser()
  folder = await mkdtemp(join(tmpdir(), 'console-upload-'))
})
afterAll(async () => {
  await browser.close()
  await rm(folder, { recursive: true, force: true })
})

async function fileOf(name: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, `the beginning of ${name}`)
  await truncate(path, sizeBytes)
  return path
}

/** How often each part was sent whole. */
function partsSent(page: Page): Map<string, number> {
  const sent = new Map<string, number>()
  page.on('response', (response) => {
    const part = /\/parts\/(\d+)$/.exec(new URL(response.url()).pathname)?.[1]
    if (part !== undefined && response.ok()) sent.set(part, (sent.get(part) ?? 0) + 1)
  })
  return sent
}

async function isStored(name: string): Promise<void> {
  const answer = await client.call('GET', `/storage/objects/${name}`, { headers: { range: 'bytes=0-63' } })
  expect(answer.status).toBe(206)
  expect(answer.text).toContain(`the beginning of ${name}`)
  expect(answer.headers.get('content-range')).toBe(`bytes 0-63/${sizeBytes}`)
}

test('an upload whose connection is cut says so, and goes on where it was when it is back', async () => {
  const path = await fileOf('cut.bin')
  const { context, page } = await visit(browser)
  await page.goto(at('/storage'))
  const sent = partsSent(page)
  await page.route('**/parts/2', async (route) => {
    await context.setOffline(true)
    await route.continue()
  })
  await page.locator('input[type=file]').first().setInputFiles(path)
  const progress = page.getByRole('progressbar', { name: 'Upload of cut.bin' })
  await page.getByText('cut; goes on by itself').waitFor()
  expect(await progress.evaluate((bar: HTMLProgressElement) => bar.value)).toBeGreaterThan(0)
  await picture(page, 'upload-cut')
  await page.unroute('**/parts/2')
  await context.setOffline(false)
  await page.getByText('uploaded', { exact: true }).waitFor()
  expect([...sent.values()].every((times) => times === 1)).toBe(true)
  await isStored('cut.bin')
  await context.close()
})

test('an upload that a reload has cut goes on with the same file, and with no other', async () => {
  const path = await fileOf('reloaded.bin')
  const { context, page } = await visit(browser)
  await page.goto(at('/storage'))
  await page.route('**/parts/3', (route) => route.abort())
  await page.locator('input[type=file]').first().setInputFiles(path)
  await page.getByText('cut; goes on by itself').waitFor()
  await page.unroute('**/parts/3')
  await page.reload()
  const goOn = page.getByRole('button', { name: 'Go on with reloaded.bin' })
  await goOn.waitFor()
  const choose = async (file: string) => {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), goOn.click()])
    await chooser.setFiles(file)
  }
  const other = join(folder, 'other.bin')
  await writeFile(other, 'another file')
  await choose(other)
  await page.getByText('The file has another size than the one that was begun.').waitFor()
  const sent = partsSent(page)
  await choose(path)
  await page.getByText('uploaded', { exact: true }).waitFor()
  expect(sent.has('3')).toBe(true)
  expect(sent.has('1')).toBe(false)
  await isStored('reloaded.bin')
  await context.close()
})

test('an upload whose last call is cut goes on, too', async () => {
  const buffer = Buffer.from('a few bytes')
  await client.post('/storage/uploads', { name: 'cut-late.txt', size: buffer.length })
  const { context, page } = await visit(browser)
  await page.route('**/complete', (route) => route.abort())
  await page.goto(at('/storage'))
  const goOn = page.getByRole('button', { name: 'Go on with cut-late.txt' })
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), goOn.click()])
  await chooser.setFiles({ name: 'cut-late.txt', mimeType: 'text/plain', buffer })
  await page.getByText('cut; goes on by itself').waitFor()
  await page.unroute('**/complete')
  await page.getByText('uploaded', { exact: true }).waitFor()
  expect((await client.call('GET', '/storage/objects/cut-late.txt')).text).toBe(buffer.toString())
  await context.close()
})

test('before a file takes the place of another it asks, also while the folder is not shown yet', async () => {
  const store = (filename: string) =>
    client.call('POST', '/storage/objects', {
      query: { filename },
      body: 'first',
      headers: { 'content-type': 'application/octet-stream' },
    })
  await store('many/taken.txt')
  await store('many/free.txt.old')
  const { context, page } = await visit(browser)
  let answer = (): void => undefined
  const held = new Promise<void>((resolve) => (answer = resolve))
  await page.route('**/storage/objects?*delimiter=*', async (route) => {
    await held
    await route.continue()
  })
  await page.goto(at('/storage?prefix=many/'))
  const files = ['taken.txt', 'free.txt'].map((name) => ({
    name,
    mimeType: 'text/plain',
    buffer: Buffer.from('second'),
  }))
  await page.locator('input[type=file]').first().setInputFiles(files)
  const question = page.getByRole('dialog', { name: 'Replace taken.txt?' })
  await question.waitFor()
  await page.getByText('uploaded', { exact: true }).waitFor()
  const textOf = async (name: string) => (await client.call('GET', `/storage/objects/many/${name}`)).text
  expect(await textOf('free.txt')).toBe('second')
  expect(await textOf('taken.txt')).toBe('first')
  answer()
  await question.getByRole('button', { name: 'Replace' }).click()
  await expect.poll(() => textOf('taken.txt')).toBe('second')
  await context.close()
})
