import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '@automation/testing'
import { afterAll, expect, test } from 'vitest'
import { processesIn, processesWith } from './processes.ts'
import { startRunner } from './runner-under-test.ts'

const tmpDir = mkdtempSync(join(tmpdir(), 'killed-runner-'))
const program = fileURLToPath(new URL('runner-to-be-killed.ts', import.meta.url))

afterAll(() => rmSync(tmpDir, { recursive: true, force: true }))

test('a runner that is killed with SIGKILL leaves no process within five seconds, and no file of a run', async () => {
  const runner = spawn(process.execPath, [program, '7101', tmpDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  runner.stdout.on('data', (chunk) => (said += String(chunk)))
  await until(() => said.includes('running'), { timeoutMs: 10_000 })
  expect(processesWith('7101').length).toBeGreaterThan(2)
  expect(processesIn(tmpDir).length).toBeGreaterThan(2)
  runner.kill('SIGKILL')
  await until(() => processesWith('7101').length + processesIn(tmpDir).length === 0, { timeoutMs: 5000 })
  const [root] = readdirSync(tmpDir)
  await until(() => readdirSync(join(tmpDir, root!)).every((name) => name === 'socket'), {
    what: 'the files of runs are gone',
  })
  const next = await startRunner({ RUNNER_TMP_DIR: tmpDir })
  expect(readdirSync(tmpDir)).not.toContain(root)
  await next.stop()
  expect(readdirSync(tmpDir)).toEqual([])
}, 20_000)
