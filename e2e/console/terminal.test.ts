import type { Browser, BrowserContext, FrameLocator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import { at, openBrowser, picture, subject, visit } from './browser.ts'

const client = new Client({ host: subject.host, team: subject.team, accessToken: subject.accessToken })

/** A program that takes the whole screen, in colours, and says its size anew when that changes; q ends it. */
const program = `
import curses
def main(screen):
    curses.init_pair(1, curses.COLOR_WHITE, curses.COLOR_RED)
    key = 0
    while key != ord("q"):
        screen.erase()
        rows, cols = screen.getmaxyx()
        screen.addstr(0, 0, "\\u2500 whole screen \\u2500", curses.color_pair(1) | curses.A_BOLD)
        screen.addstr(rows - 1, 0, f"size {cols}x{rows}")
        screen.refresh()
        key = screen.getch()
curses.wrapper(main)
`

let browser: Browser
let context: BrowserContext
let page: Page
let frame: FrameLocator
let sandbox: string

beforeAll(async () => {
  browser = await openBrowser()
  const { body } = await client.post<{ id: string }>('/sandboxes', { imageId: 'base', timeout: 300_000 })
  sandbox = `/sandboxes/${body.id}`
  await client.call('PUT', `${sandbox}/files/tmp/program.py`, { body: program })
  ;({ context, page } = await visit(browser))
  await page.goto(at(`${sandbox}?tab=terminal`))
  frame = page.frameLocator('iframe')
  await shows(/[$#>]\s*$/)
})
afterAll(async () => {
  await client.post(`${sandbox}/kill`)
  await context.close()
  await browser.close()
})

/** Waits until the rows that the terminal draws are so. */
async function shows(what: string | RegExp): Promise<string> {
  const rows = frame.locator('.xterm-rows')
  await rows.filter({ hasText: what }).waitFor()
  return rows.innerText()
}

async function types(line: string): Promise<void> {
  await page.keyboard.type(`${line}\n`)
}

const sizeShown = async () =>
  /size (\d+)x(\d+)/
    .exec(await shows(/size \d+x\d+/))
    ?.slice(1)
    .map(Number) ?? []

test('a program takes the whole screen, in colours, follows the window, and gives the screen back', async () => {
  await types('echo before-it; export LC_ALL=C.UTF-8; python3 /tmp/program.py')
  await shows('─ whole screen ─')
  const [cols = 0, rows = 0] = await sizeShown()
  expect(await frame.locator('.xterm-rows .xterm-bg-1', { hasText: 'whole' }).count()).toBe(1)
  await picture(page, 'terminal')
  await page.setViewportSize({ width: 900, height: 700 })
  await shows(new RegExp(`size (?!${cols}x)\\d+x\\d+`))
  expect((await sizeShown())[0]).toBeLessThan(cols)
  await page.setViewportSize({ width: 1440, height: 900 })
  await shows(`size ${cols}x${rows}`)
  await page.keyboard.press('q')
  expect(await shows('before-it')).not.toContain('whole screen')
})

test('vim edits a file, where the machine has it', async () => {
  await types('command -v vim || echo no"-"vim')
  if ((await shows(/no-vim|\/vim/)).includes('no-vim')) return
  await types('clear; vim -u NONE -N /tmp/note.txt')
  await shows(/~\s*~/)
  // Each step is awaited: an Escape that another key follows at once is taken for one key with it.
  await page.keyboard.type('i')
  await shows('-- INSERT --')
  await page.keyboard.type('written in vim')
  await shows('written in vim')
  await page.keyboard.press('Escape')
  const rows = frame.locator('.xterm-rows')
  await expect.poll(() => rows.innerText()).not.toContain('-- INSERT --')
  await types(':wq')
  await expect.poll(() => rows.innerText()).not.toContain('written in vim')
  await types('clear; cat /tmp/note.txt && echo is-"to"-be-read')
  expect(await shows('is-to-be-read')).toContain('written in vim')
})

test('Ctrl-C ends what runs, and the shell goes on', async () => {
  await types('clear; echo goes-"to"-sleep; sleep 300; echo ended with $?')
  await shows('goes-to-sleep')
  await page.keyboard.press('Control+c')
  await types('clear; echo go-"es"-on')
  await shows('go-es-on')
})
