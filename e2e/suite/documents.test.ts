import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fitting, printedBy, stepsIn } from '@automation/testing/guide'
import { describe, expect, onTestFinished, test } from 'vitest'
import { shapeFromEnvironment } from '../system/system.ts'
import { shared } from './shared-system.ts'

const root = new URL('../../', import.meta.url)

/** Documents whose commands are run as they stand there, and what they must have shown where they do not say it themselves. */
const documents: Record<string, string[]> = {
  'README.md': [
    '{"text":"Hello, world"}',
    '{"text":"Hello, again"}',
    '"message":"greeting later"',
    'event: end',
    '{"text":"Hello, version one"}',
  ],
  'docs/tutorials/first-process.md': [],
  'docs/tutorials/first-webhook.md': [],
  'docs/tutorials/first-schedule.md': [],
}

/** The commands for the system of this suite: its address and team, and its API token in place of the first start's. */
function here(commands: string): string {
  const { team, apiToken } = shared.main
  return commands
    .replaceAll('http://localhost:8080', shared.host)
    .replaceAll('/api/demo/', `/api/${team}/`)
    .replaceAll('$(cat .data/bootstrap-token)', apiToken)
}

// In a team that others use, names would be taken; the documents start the system by `npm start`.
describe.skipIf(!shared.owned || shapeFromEnvironment() !== 'embedded')('the documents', () => {
  test.for(Object.entries(documents))('%s: its commands do what it shows', async ([path, wanted]) => {
    const steps = stepsIn(await readFile(new URL(path, root), 'utf8'))
    expect(steps.length).toBeGreaterThan(0)
    const folder = await mkdtemp(join(tmpdir(), 'automation-documents-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const commands = steps.map((step) => here(step.commands))
    const printed = await printedBy(commands, folder)
    for (const text of wanted) expect(printed.join('')).toContain(text)
    steps.forEach(({ shown }, index) => {
      if (shown !== undefined) expect(printed[index]).toMatch(fitting(shown))
    })
  })
})
