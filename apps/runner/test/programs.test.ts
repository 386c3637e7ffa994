import { execFile } from 'node:child_process'
import { stat, truncate } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { childPrograms, compileJavaScript, inIsolation } from '../src/children/programs.ts'
import { processesBelow, processesWith } from './processes.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'

let under: RunnerUnderTest

beforeAll(async () => {
  under = await startRunner({ ISOLATION: 'none' })
})
afterAll(() => under.stop())

// As start.js reads it.
const looksAtFile = `
  const [, file, start] = process.argv
  const { source, compiled } = require(start).partsOf(require('node:fs').readFileSync(file))
  const script = new (require('node:vm').Script)(source, { cachedData: compiled })
  console.log(script.cachedDataRejected)`

test('what is compiled ahead is there for children of any account, and is made once', async () => {
  const path = await compileJavaScript()
  const { mode, ino } = await stat(path)
  expect(mode & 0o777).toBe(0o644)
  expect(await compileJavaScript()).toBe(path)
  expect((await stat(path)).ino).toBe(ino)
})

test.each([32, 512, 65_536])('a Node with the options of children takes it: %i MB', async (memoryMb) => {
  const compiled = await compileJavaScript()
  const { program } = childPrograms({ python: undefined, compiled, memoryMb })[0]!
  const [node, ...options] = program.slice(0, -2)
  const { stdout } = await promisify(execFile)(node!, [...options, '-e', looksAtFile, compiled, program.at(-2)!])
  expect(stdout.trim()).toBe('false')
})

test('what a machine that went down has left of it is made anew', async () => {
  const path = await compileJavaScript()
  const { size } = await stat(path)
  for (const left of [0, 5, size - 1]) {
    await truncate(path, left)
    expect((await under.replica.run('return 1', { run: { freshProcess: true } })).value).toBe(1)
    expect(await compileJavaScript()).toBe(path)
    expect((await stat(path)).size).toBe(size)
  }
})

test('children start from it', async () => {
  expect((await under.replica.run('return 1')).value).toBe(1)
  const compiled = await compileJavaScript()
  const below = processesBelow(process.pid)
  expect(processesWith(compiled).filter((pid) => below.includes(pid))).not.toEqual([])
})

test('where nothing could be compiled ahead, they start from their modules', () => {
  const { program } = childPrograms({ python: undefined, compiled: undefined, memoryMb: 512 })[0]!
  expect(program.at(-1)).toMatch(/main\.js$/)
})

test('forks of Python children get Landlock domains of their own but below the rules for all ports', () => {
  const programs = childPrograms({ python: 'python3', compiled: undefined, memoryMb: 512 })
  const python = programs.find(({ language }) => language === 'python')!
  expect(inIsolation(python, { network: 'host' })).toEqual(python)
  for (const network of ['own', 'alone'] as const)
    expect(inIsolation(python, { network }).program).toEqual([...python.program, 'domains'])
})
