import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runSuite } from '../test-run/run-suite.ts'

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
const suite = { name: 'a suite', config: join(root, 'vitest.config.js'), files: [], env: {} }

test('what fails once counts as passed where it may run again, and is named; what fails twice has failed', async () => {
  const result = await runSuite(suite, true)
  expect(result).toMatchObject({ passed: 2, failed: 1 })
  expect(result.unsteady).toEqual([expect.stringMatching(/unsteady\.test\.cjs > the second time: Error: late/)])
  expect(result.failures).toEqual([expect.stringMatching(/steady\.test\.js > never: Error: no/)])
  rmSync(marker)
  expect(await runSuite(suite, false)).toMatchObject({ passed: 1, failed: 2, unsteady: [] })
})
