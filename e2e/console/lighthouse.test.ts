import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { browserPath } from '../suite/browser.ts'
import { repositoryRoot } from '../system/system.ts'
import { at, subject } from './browser.ts'

/** It comes from npm into .cache, at the first time. */
const LIGHTHOUSE = 'lighthouse@13.5.0'
const LEAST = 0.95
const measured = ['performance', 'accessibility', 'best-practices', 'seo']

interface Report {
  categories: Record<string, { score: number }>
  audits: Record<string, { numericValue?: number }>
}

/** What it plays, by its options: a machine on a desk, and a slow phone on a slow network. */
const devices = [
  { device: 'desktop', options: ['--preset=desktop'] },
  { device: 'phone', options: [] },
]

test.each(devices)(
  'Lighthouse finds nothing against the first page on a $device, and nothing moves while it loads',
  async ({ device, options }) => {
    const { categories, audits } = await audit(at(''), options)
    const { performance, ...others } = Object.fromEntries(measured.map((name) => [name, categories[name]?.score ?? 0]))
    // Times are told, not held against the page: the score for them falls with all else that the machine does.
    const firstPaintMs = Math.round(audits['first-contentful-paint']?.numericValue ?? 0)
    console.log(`Lighthouse, ${device}: ${JSON.stringify({ performance, ...others, firstPaintMs })}`)
    for (const [name, score] of Object.entries(others)) expect(score, name).toBeGreaterThanOrEqual(LEAST)
    expect(audits['cumulative-layout-shift']?.numericValue).toBeLessThan(0.1)
  },
)

async function audit(address: string, device: readonly string[]): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'lighthouse-'))
  const path = join(folder, 'report.json')
  try {
    const options = [
      ...[...device, '--quiet', '--output=json', `--output-path=${path}`],
      `--only-categories=${measured.join(',')}`,
      '--chrome-flags=--headless --no-sandbox --disable-gpu',
      `--extra-headers=${JSON.stringify({ Cookie: subject.cookie })}`,
    ]
    const npm = ['exec', '--yes', '--cache', join(repositoryRoot, '.cache/npx'), '--', LIGHTHOUSE, address, ...options]
    await promisify(execFile)('npm', npm, { env: { ...process.env, CHROME_PATH: browserPath } })
    return JSON.parse(await readFile(path, 'utf8')) as Report
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
