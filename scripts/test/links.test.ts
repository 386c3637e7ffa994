import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { linkFaults } from '../check/links.ts'

let root = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'automation-links-'))
  await mkdir(join(root, 'docs'))
})
afterAll(() => rm(root, { recursive: true }))

/** What is found in a document beside `docs/other.md`, which has the headings given here. */
async function faultsOf(text: string): Promise<string[]> {
  await writeFile(join(root, 'README.md'), text)
  await writeFile(join(root, 'docs/other.md'), '# Other\n\n## What `it` is, and why?\n\n## Twice\n\n## Twice\n')
  return linkFaults(root, ['README.md', 'docs/other.md', 'libs/a/src/a.ts'])
}

test('what is there is no fault: files, folders, anchors, addresses, and all in code blocks', async () => {
  const text = `# Read me
[a](docs/other.md) [b](docs/other.md#what-it-is-and-why) [c](docs/other.md#twice-1) [d](#read-me) [e](docs/)
[f](https://example.com/x.md) \`libs/a/src/a.ts\` \`src/a.ts\` \`a.ts\` \`libs/a/\` \`libs/*/src\` \`[g](gone.md)\`
\`\`\`sh
[h](gone.md)
\`\`\`
`
  expect(await faultsOf(text)).toEqual([])
})

test.for([
  ['[a](docs/gone.md)', 'README.md links to docs/gone.md, which is not there'],
  ['![a](docs/gone.svg)', 'README.md links to docs/gone.svg, which is not there'],
  ['[a](docs/other.md#gone)', 'README.md links to docs/other.md#gone, which is not there'],
  ['[a](#gone)', 'README.md links to #gone, which is not there'],
  ['`libs/a/src/gone.ts`', 'README.md names libs/a/src/gone.ts, which is not there'],
  ['`src/gone.ts`', 'README.md names src/gone.ts, and no file is called so'],
])('%s is a fault', async ([text = '', fault]) => {
  expect(await faultsOf(text)).toEqual([fault])
})
