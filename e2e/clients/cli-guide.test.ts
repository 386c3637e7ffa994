import { execFile } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { repositoryRoot } from '../system/system.ts'
import { environment, home, program } from './cli.ts'

const guide = await readFile(join(repositoryRoot, 'docs/guides/command-line.md'), 'utf8')
const blocks = [...guide.matchAll(/^## (.+)\n[^]*?(?=^## |$(?![^]))/gm)].flatMap(([section, title = '']) =>
  [...section.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, commands = '']) => ({ title, commands })),
)
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(home, 'guide-'))
  await writeFile(join(folder, 'pas'), `#!/bin/sh\nexec ${program.map((word) => `'${word}'`).join(' ')} "$@"\n`, {
    mode: 0o755,
  })
})

test.each(blocks)('the commands of the guide work: $title: $commands', async ({ commands }) => {
  const env = { ...environment(), PATH: `${folder}:${process.env['PATH']}` }
  const run = promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], { cwd: folder, env })
  expect((await run).stdout).not.toBe('')
})
