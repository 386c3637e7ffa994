import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { listening, type Listening } from '@automation/testing/listening'
import { Client, type Run } from '@automation/client'
import { until } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { admin, type Values } from './started.ts'

interface Runner {
  id: string
  version: string
  pool: string
  languages: string[]
  slots: number
  running: number
  free: number
  replicas: string[]
  draining: boolean
  state: string
}

/** The test of runners as an operator sees them, for services that have been started when it begins. */
export function testDrain(valuesOf: () => Values): void {
  /** Answers runs when the test says so. */
  let gate: Listening
  const held: ServerResponse[] = []
  const list = async () => JSON.parse((await admin(valuesOf(), '--json', 'runners', 'list')).stdout) as Runner[]
  const statusOf = async (run: Run) => (await run.get()).status
  const patience = { timeoutMs: 30_000 }

  beforeAll(async () => {
    gate = await listening(createServer((_, response) => void held.push(response)))
  })
  afterAll(() => gate.close())

  test(
    'are listed with what they serve; one that drains ends with its runs, and what comes meanwhile runs in another',
    { timeout: 120_000 },
    async () => {
      const values = valuesOf()
      const token = (await readFile(join(values['DATA_DIR'] ?? '', 'bootstrap-token'), 'utf8')).trim()
      const { processes } = new Client({ url: `http://localhost:${values['PORT']}`, team: 'demo', token })
      const sourceCode = `if (svc.context.parameters.waits) await fetch('${gate.url}')\nreturn 1`
      const { slug } = await processes.create({ name: 'waiting', sourceCode })
      const last = await processes.run(slug, { waits: true })
      await until(() => held.length === 1, { ...patience, what: 'the run begins' })
      const toldReplicas = async () => (await list()).find(({ replicas }) => replicas.length === 1)
      const runner = await until(toldReplicas, { ...patience, what: 'the runner says its replicas' })
      expect(runner).toMatchObject({
        pool: 'default',
        draining: false,
        running: 1,
        free: runner.slots - 1,
        state: 'runs',
      })
      expect(runner.languages).toContain('JAVASCRIPT')
      expect(runner.version).toMatch(/^\d+\.\d+/)

      expect((await admin(values, 'runners', 'drain', crypto.randomUUID())).stderr).toContain('Runner not found')
      const drained = admin(values, 'runners', 'drain', runner.id, '--wait')
      await until(async () => (await list())[0]?.state.startsWith('drains'), { ...patience, what: 'the runner drains' })
      const next = await processes.run(slug, {})
      await until(async () => (await statusOf(next)) === 'QUEUED', { ...patience, what: 'the next run waits' })
      expect(await statusOf(last)).toBe('RUNNING')
      held[0]!.end()
      expect(await last.result()).toBe(1)
      expect(await drained).toMatchObject({ code: 0, stdout: expect.stringContaining('has ended') })
      expect(await next.result()).toBe(1)
      expect((await list()).map(({ id }) => id)).not.toContain(runner.id)
    },
  )
}
