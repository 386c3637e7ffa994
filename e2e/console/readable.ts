import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** How many pixels the page is wider than the window. */
export function widthBeyond(page: Page): Promise<number> {
  return page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - window.innerWidth))
}

interface Violation {
  id: string
  nodes: { target: string[]; failureSummary?: string }[]
}

/** What axe finds against WCAG 2.2 AA. It comes by the debugger's way, which the content policy leaves alone. */
export async function faultsOfAxe(page: Page): Promise<string[]> {
  await page.evaluate(await axe)
  const violations = await page.evaluate(async () => {
    const { axe: engine } = window as unknown as { axe: { run(o: object): Promise<{ violations: Violation[] }> } }
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
    return (await engine.run({ runOnly: { type: 'tag', values: tags } })).violations
  })
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id} ${target.join(' ')}: ${failureSummary}`),
  )
}
