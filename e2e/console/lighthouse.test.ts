import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browserPath } from '../suite/browser.ts'
import { repositoryRoot } from '../system/system.ts'
import { at, openProfile, subject } from './browser.ts'

/** It comes from npm into .cache, at the first time. */
const LIGHTHOUSE = 'lighthouse@13.5.0'
const LEAST = 0.95
const measured = ['performance', 'accessibility', 'best-practices', 'seo']

interface Report {
  categories: Record<string, { score: number }>
  audits: Record<string, { numericValue?: number; details?: { items?: NetworkRequest[] } }>
}

interface NetworkRequest {
  url: string
  statusCode: number
}

/** What it plays, by its options: a machine on a desk, and a slow phone on a slow network. */
const devices = [
  { device: 'desktop', options: ['--preset=desktop'] },
  { device: 'phone', options: [] },
]

/**
 * What a browser keeps, with the session. Its cookie is a real one: a header for each request of the page would not be among
 * the requests of the page's worker, and the page would take the session for ended.
 */
let profile: string
beforeAll(async () => {
  profile = await mkdtemp(join(tmpdir(), 'lighthouse-'))
  const { context } = await openProfile(profile)
  const inAnHour = Math.floor(Date.now() / 1000) + 3600
  await context.addCookies((await context.cookies()).map((cookie) => ({ ...cookie, expires: inAnHour })))
  await context.close()
})
afterAll(() => rm(profile, { recursive: true, force: true, maxRetries: 5 }))

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
    // It has looked at the page of who is signed in, whose session has not ended meanwhile.
    const requests = audits['network-requests']?.details?.items ?? []
    const answersTo = (end: string) =>
      requests.filter(({ url }) => new URL(url).pathname.endsWith(end)).map(({ statusCode }) => statusCode)
    expect(answersTo('/session')).toEqual([200])
    expect(new Set(answersTo(`/${subject.team}/rest/executions/statistics`))).toEqual(new Set([200]))
  },
)

async function audit(address: string, device: readonly string[]): Promise<Report> {
  const path = join(profile, 'report.json')
  const options = [
    ...[...device, '--quiet', '--output=json', `--output-path=${path}`],
    `--only-categories=${measured.join(',')}`,
    `--chrome-flags=--headless --no-sandbox --disable-gpu --user-data-dir=${profile}`,
  ]
  const npm = ['exec', '--yes', '--cache', join(repositoryRoot, '.cache/npx'), '--', LIGHTHOUSE, address, ...options]
  await promisify(execFile)('npm', npm, { env: { ...process.env, CHROME_PATH: browserPath } })
  return JSON.parse(await readFile(path, 'utf8')) as Report
}
