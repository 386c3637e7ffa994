import type { Page } from 'playwright-core'

/** Until nothing of a page is a skeleton any more. */
export async function untilShown(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('[role=status] > span.visually-hidden') === null)
}
