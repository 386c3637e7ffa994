import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { conflictFaults } from '../check/conflicts.ts'

let root = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'automation-conflicts-'))
})
afterAll(() => rm(root, { recursive: true }))

const ours = `${'<'.repeat(7)} HEAD`
const theirs = `${'>'.repeat(7)} 3a0aa1e (a commit)`

test('both ends of a conflict are faults, each with its line', async () => {
  await writeFile(join(root, 'a.md'), ['# A', ours, 'one', '=======', 'two', theirs, ''].join('\n'))
  await writeFile(join(root, 'b.ts'), '')
  expect(await conflictFaults(root, ['a.md', 'b.ts'])).toEqual([
    `a.md:2 is left of a merge: ${ours}`,
    `a.md:6 is left of a merge: ${theirs}`,
  ])
})

test('headings that are underlined, and markers within a line, are none', async () => {
  await writeFile(join(root, 'a.md'), ['A heading', '=======', ` ${ours}`, `see ${theirs}`, '<<<<<<<<'].join('\n'))
  expect(await conflictFaults(root, ['a.md'])).toEqual([])
})
