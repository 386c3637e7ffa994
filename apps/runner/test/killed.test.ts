import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '@automation/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { titleOf, levels } from './isolation/levels.ts'
import { missing } from './isolation/means.ts'
import { namesIn } from './limits/left-over.ts'
import { processesBelow, processesWith, sleepMark, stillRunning } from './processes.ts'
import { startRunner } from './runner-under-test.ts'

const program = fileURLToPath(new URL('runner-to-be-killed.ts', import.meta.url))

for (const level of [...levels, { name: 'no isolation', refuses: [], needs: [], settings: { ISOLATION: 'none' } }]) {
  const tmpDir = mkdtempSync(join(tmpdir(), 'killed-runner-'))
  const settings = { ...level.settings, TMPDIR: tmpDir }

  describe.skipIf(missing(level.needs) !== undefined)(titleOf(level), () => {
    afterAll(() => rmSync(tmpDir, { recursive: true, force: true }))

    test('a runner that is killed leaves no process, and no file of a run', async () => {
      const mark = sleepMark()
      const runner = startProgram(mark)
      let said = ''
      runner.stdout!.on('data', (chunk) => (said += String(chunk)))
      await until(() => said.includes('running'), { what: 'its run' })
      await until(() => processesWith(`sleep\0${mark}`).length >= 2, { what: 'what its run has started' })
      const below = processesBelow(runner.pid!)
      expect(below.length).toBeGreaterThan(5)
      const ended = once(runner, 'exit')
      runner.kill('SIGKILL')
      await until(() => processesWith(mark).length + stillRunning(below).length === 0)
      const [root] = readdirSync(tmpDir)
      await until(() => filesOfRuns().length === 0, { what: 'the files of runs are gone' })
      await ended
      const next = await startRunner(settings)
      expect(readdirSync(tmpDir)).not.toContain(root)
      await next.stop()
      expect(readdirSync(tmpDir)).toEqual([])
    })

    test('nor one that is killed while it starts its first processes', async () => {
      for (const _ of Array.from({ length: 2 })) {
        const runner = startProgram('0')
        const ended = once(runner, 'exit')
        await until(() => filesOfRuns().length > 0, { what: 'a first process' })
        runner.kill('SIGKILL')
        await ended
        await until(() => filesOfRuns().length === 0, { what: 'what its processes had is gone' })
      }
    })

    function startProgram(mark: string) {
      return spawn(process.execPath, [program, mark, JSON.stringify(settings)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
    }

    /** Each child has its number. */
    function filesOfRuns(): string[] {
      return readdirSync(tmpDir).flatMap((root) => namesIn(join(tmpDir, root)).filter((name) => /^\d/.test(name)))
    }
  })
}
