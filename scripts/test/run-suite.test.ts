import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import type { SuiteResult } from '../test-run/run-suite.ts'

const root = mkdtempSync(join(tmpdir(), 'suite-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
writeFileSync(join(root, 'vitest.config.js'), `export default { test: { root: '${root}', globals: true } }`)
writeFileSync(join(root, 'steady.test.js'), "test('holds', () => {}); test('never', () => { throw new Error('no') })")
const once = "const { existsSync, writeFileSync } = require('node:fs')"
const marker = join(root, 'was-here')
writeFileSync(
  join(root, 'unsteady.test.cjs'),
  `${once}; test('the second time', () => { if (!existsSync('${marker}')) { writeFileSync('${marker}', ''); throw new Error('late') } })`,
)
const hookMarker = join(root, 'hook-was-here')
writeFileSync(
  join(root, 'hook.test.cjs'),
  `${once}; beforeAll(() => { if (!existsSync('${hookMarker}')) { writeFileSync('${hookMarker}', ''); throw new Error('not up') } }); test('behind a hook', () => {})`,
)
const suite = { name: 'a suite', config: join(root, 'vitest.config.js'), files: [], env: {} }

/** In a process of its own, as what the suite says of its failures is not to be read as ours. */
async function resultOf(again: boolean): Promise<SuiteResult> {
  const module = fileURLToPath(new URL('../test-run/run-suite.ts', import.meta.url))
  const program = `const { runSuite } = await import(${JSON.stringify(module)})
    console.log('\\n' + JSON.stringify(await runSuite(${JSON.stringify(suite)}, ${again})))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as SuiteResult
}

test('what fails once counts as passed where it may run again, and is named; what fails twice has failed', async () => {
  const result = await resultOf(true)
  expect(result).toMatchObject({ passed: 3, failed: 1 })
  const hook = expect.stringMatching(/hook\.test\.cjs > cannot be run: not up/)
  const late = expect.stringMatching(/unsteady\.test\.cjs > the second time: Error: late/)
  expect(result.unsteady).toHaveLength(2)
  expect(result.unsteady).toEqual(expect.arrayContaining([hook, late]))
  expect(result.failures).toEqual([expect.stringMatching(/steady\.test\.js > never: Error: no/)])
  for (const file of [marker, hookMarker]) rmSync(file)
  expect(await resultOf(false)).toMatchObject({ passed: 1, failed: 3, unsteady: [] })
})
