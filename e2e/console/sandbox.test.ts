import { connectSandbox } from '@automation/client/sandbox'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { at, openBrowser, picture, subject, visit } from './browser.ts'
import { attackOn, NOTHING_REACHED } from './attack.ts'

const { sandbox } = subject.scene

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('the terminal of a sandbox takes what is typed, and what it writes is among the files', async () => {
  const { context, page, complaints } = await visit(browser)
  await page.goto(at(`/sandboxes/${sandbox.id}?tab=terminal`))
  const terminal = page.frameLocator('iframe')
  await terminal.locator('.xterm-helper-textarea').waitFor()
  await terminal.locator('.xterm-rows').getByText(/[$#]/).first().waitFor()
  await terminal.locator('.xterm-helper-textarea').focus()
  await page.keyboard.type('echo "typed $((40 + 2))" | tee typed.txt\n')
  await terminal.locator('.xterm-rows').getByText('typed 42').first().waitFor()
  await picture(page, 'terminal')
  await page.keyboard.press('Control+Shift+L')
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toMatch(/screen reader/)
  await page.goto(at(`/sandboxes/${sandbox.id}?tab=files`))
  await page.getByText('typed.txt').first().waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('a page that a sandbox serves reaches nothing of the session', async () => {
  const connected = connectSandbox(sandbox)
  await connected.files.write('index.html', `<!doctype html><body><script>${attackOn(subject)}</script>`)
  const server = connected.run(['python3', '-m', 'http.server', '3000'])
  server.catch(() => undefined)
  const { context, page } = await visit(browser)
  const address = sandbox.publicUrls['3000'] ?? ''
  await expect.poll(async () => (await page.goto(address))?.status(), { timeout: 30_000, interval: 500 }).toBe(200)
  await page.waitForFunction(() => document.title.startsWith('done'))
  expect(await page.title()).toBe(NOTHING_REACHED)
  await page.goto(at('/variables'))
  await page.getByRole('heading', { name: 'Variables', level: 1 }).waitFor()
  connected.close()
  await context.close()
})
