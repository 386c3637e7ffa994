import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
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

interface Step {
  commands: string
  /** The block behind, which shows what they print; … stands for anything. */
  shown: string | undefined
}

/** The blocks of a document that are `sh` and nothing else, each with the block that shows its output. */
function stepsIn(text: string): Step[] {
  const blocks = [...text.matchAll(/^```(.*)\n([^]*?)^```$/gm)].map(([, kind = '', body = '']) => ({ kind, body }))
  return blocks.flatMap(({ kind, body }, index) => {
    const next = blocks[index + 1]
    const shown = next !== undefined && /^(json|text)$/.test(next.kind) ? next.body.trim() : undefined
    return kind === 'sh' ? [{ commands: body, shown }] : []
  })
}

/** The commands for the system of this suite: its address and team, and its API token in place of the first start's. */
function here(commands: string): string {
  const { team, apiToken } = shared.main
  return commands
    .replaceAll('http://localhost:8080', shared.host)
    .replaceAll('/api/demo/', `/api/${team}/`)
    .replaceAll('$(cat .data/bootstrap-token)', apiToken)
}

const mark = '--- next step ---'

/** Runs all steps in one shell, in an empty folder; gives what each printed. */
async function follow(steps: Step[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'automation-documents-'))
  try {
    const script = steps.map(({ commands }) => here(commands)).join(`\necho; echo '${mark}'\n`)
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder })
    return stdout.split(mark)
  } finally {
    await rm(folder, { recursive: true })
  }
}

function pattern(shown: string): RegExp {
  const parts = shown.split('…').map((part) => part.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(parts.join('[^]*'))
}

// In a team that others use, names would be taken; the documents start the system by `npm start`.
describe.skipIf(!shared.owned || shapeFromEnvironment() !== 'embedded')('the documents', () => {
  test.for(Object.entries(documents))('%s: its commands do what it shows', async ([path, wanted]) => {
    const steps = stepsIn(await readFile(new URL(path, root), 'utf8'))
    expect(steps.length).toBeGreaterThan(0)
    const printed = await follow(steps)
    for (const text of wanted) expect(printed.join('')).toContain(text)
    steps.forEach(({ shown }, index) => {
      if (shown !== undefined) expect(printed[index]).toMatch(pattern(shown))
    })
  })
})
