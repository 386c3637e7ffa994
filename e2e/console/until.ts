import type { Page } from 'playwright-core'
import { waitUntil } from '../system/wait-until.ts'

/** Until the console, which is built beside the start, is served. */
export async function untilBuilt(origin: string): Promise<void> {
  await waitUntil('the build of the console', () => isBuilt(origin), { timeoutMs: 120_000, everyMs: 250 })
}

async function isBuilt(origin: string): Promise<boolean> {
  const response = await fetch(origin, { headers: { accept: 'text/html' } })
  return (await response.text()).includes('/assets/')
}

/** Until nothing of a page is a skeleton any more. */
export async function untilShown(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('[role=status] > span.visually-hidden') === null)
}
