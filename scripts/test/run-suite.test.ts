import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import type { SuiteResult } from '../test-run/run-suite.ts'

const root = mkdtempSync(join(tmpdir(), 'suite-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
writeFileSync(
  join(root, 'vitest.config.js'),
  `export default { test: { root: '${root}', globals: true, isolate: false, maxWorkers: 4 } }`,
)
writeFileSync(join(root, 'steady.test.js'), "test('holds', () => {}); test('never', () => { throw new Error('no') })")

/** How often each file has run, and in which worker. */
const runs = mkdtempSync(join(tmpdir(), 'suite-runs-'))
afterAll(() => rmSync(runs, { recursive: true, force: true }))

/** A file that fails so many times, in a test or in a hook. */
function failsAtFirst(file: string, times: number, place: 'test' | 'hook'): void {
  const journal = JSON.stringify(join(runs, file))
  const fail = `fs.appendFileSync(${journal}, process.env.VITEST_POOL_ID)
    if (fs.readFileSync(${journal}, 'utf8').length <= ${times}) throw new Error('not yet')`
  const [hook, body] = place === 'hook' ? [fail, ''] : ['', fail]
  const text = `const fs = require('node:fs'); beforeAll(() => { ${hook} }); test('at last', () => { ${body} })`
  writeFileSync(join(root, `${file}.test.cjs`), text)
}
failsAtFirst('unsteady', 1, 'test')
failsAtFirst('hook', 1, 'hook')
failsAtFirst('late', 2, 'test')

const leaks = JSON.stringify(join(runs, 'leak'))
writeFileSync(
  join(root, 'leak.test.cjs'),
  `const fs = require('node:fs')
  test('leaves a promise', async () => {
    if (!fs.existsSync(${leaks})) { fs.writeFileSync(${leaks}, ''); Promise.reject(new Error('nobody waited')) }
    await new Promise((resolve) => setImmediate(resolve))
  })`,
)

/** In a process of its own, as what the suite says of its failures is not to be read as ours. */
async function resultOf(again: boolean, config = 'vitest.config.js'): Promise<SuiteResult> {
  const suite = { name: 'a suite', config: join(root, config), files: [], env: {} }
  const module = fileURLToPath(new URL('../test-run/run-suite.ts', import.meta.url))
  const program = `const { runSuite } = await import(${JSON.stringify(module)})
    console.log('\\n' + JSON.stringify(await runSuite(${JSON.stringify(suite)}, ${again})))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as SuiteResult
}

test('what fails and then passes where it may run again is named; what fails each time has failed', async () => {
  const result = await resultOf(true)
  expect(result).toMatchObject({ passed: 6, failed: 1 })
  const unsteady = [
    /hook\.test\.cjs > cannot be run: not yet/,
    /late\.test\.cjs > at last/,
    /leak\.test\.cjs > an error that no test caught, while leaves a promise ran: Error: nobody waited at .*leak\.test\.cjs/,
    /unsteady\.test\.cjs > at last/,
  ]
  expect(result.unsteady.toSorted()).toEqual(unsteady.map((words) => expect.stringMatching(words)))
  expect(result.failures).toEqual([expect.stringMatching(/steady\.test\.js > never: Error: no/)])
  const workers = (file: string) => readFileSync(join(runs, file), 'utf8').slice(1)
  // One after the other, in one worker, and those alone that are left a third time.
  expect(['hook', 'late', 'unsteady'].map(workers)).toEqual(['1', '11', '1'])
  for (const file of ['hook', 'late', 'leak', 'unsteady']) rmSync(join(runs, file))
  expect(await resultOf(false)).toMatchObject({ passed: 2, failed: 5, unsteady: [] })
})

test('what can not be ended after the tests is told with its last words', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'suite-end-'))
  writeFileSync(
    join(root, 'end.config.js'),
    `export default { test: { root: '${folder}', globals: true, globalSetup: ['./setup.mjs'] } }`,
  )
  writeFileSync(join(folder, 'setup.mjs'), "export default () => () => { throw new Error('it does not stop') }")
  writeFileSync(join(folder, 'holds.test.js'), "test('holds', () => {})")
  const { passed, failures } = await resultOf(true, 'end.config.js')
  expect([passed, failures]).toEqual([1, [expect.stringMatching(/^vitest ended with 1: .*it does not stop/)]])
  rmSync(folder, { recursive: true })
})
