import { execFileSync } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Execution } from '../client/records.ts'
import { isAlive, processOf } from '../system/process-table.ts'
import type { ProcessId } from '../system/process-table.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectProblem } from './problem.ts'
import {
  awaitEnd,
  awaitRunning,
  execute,
  executeSync,
  executionOf,
  expectLastWord,
  makeProcess,
  publish,
  runCode,
  statusesOf,
} from './runs.ts'
import { client, shared } from './shared-system.ts'

const kill = (id: string) => client.put<string>(`/executions/${id}/kill`)
const rerun = (id: string) => client.post<string>(`/executions/${id}/rerun`)
const sleeper = 'console.log("started"); await new Promise((done) => setTimeout(done, 120_000))'

describe('killing', () => {
  test.for([
    ['waits', sleeper],
    ['never yields', 'console.log("started"); for (;;);'],
    [
      'refuses SIGTERM',
      'process.on("SIGTERM", () => {}); console.log("started"); await new Promise(() => setInterval(() => {}, 1000))',
    ],
  ] as const)('a run that %s is KILLED at once', async ([, sourceCode]) => {
    const id = await execute(await makeProcess({ sourceCode }))
    await awaitRunning(id)
    const answer = await kill(id)
    expect(answer.status).toBe(202)
    expect(answer.body).toBe(id)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/)
    const execution = await awaitEnd(id, 15_000)
    expect(execution.status).toBe('KILLED')
    expect(statusesOf(execution).at(-1)).toBe('KILLED')
    await expectLastWord(execution)
  })

  test.skipIf(!shared.owned)(
    'every process that the run started is gone, those in sessions of their own too',
    async () => {
      const mark = `.${randomInt(1e9, 1e10)}`
      const sourceCode = `
      const { spawn } = require('node:child_process')
      const mark = '${mark}'
      spawn('sh', ['-c', \`sleep 301\${mark} & (setsid sleep 302\${mark} &) ; setsid sh -c "sleep 303\${mark} & sleep 304\${mark}" & wait\`], { detached: true })
      const node = spawn('sleep', ['305' + mark], { detached: true, stdio: 'ignore' }); node.unref()
      await new Promise((done) => setTimeout(done, 120_000))`
      const id = await execute(await makeProcess({ sourceCode }))
      // By their commands: in isolation the pids that they know are of their own.
      const all = () => {
        const found = sleepers(mark)
        return found.length === 5 && found
      }
      const before = await waitUntil('all that it starts', all, { timeoutMs: 30_000 })
      await kill(id)
      await waitUntil('its processes to be gone', () => before.every((one) => !isAlive(one)), { timeoutMs: 15_000 })
    },
  )

  test('a terminal execution cannot be killed, and stays what it is', async () => {
    const finished = await runCode('return 1')
    const failed = await runCode('throw new Error("x")')
    const killed = await execute(await makeProcess({ sourceCode: sleeper }))
    await awaitRunning(killed)
    await kill(killed)
    await awaitEnd(killed)
    for (const id of [finished.execution.id, failed.execution.id, killed]) {
      const before = await executionOf(id)
      expectProblem(await kill(id), 400, { code: 'execution_ended' })
      expect(await executionOf(id)).toEqual(before)
    }
  })

  test('of many kills at the same time one is accepted or all agree, and there is one KILLED event', async () => {
    const id = await execute(await makeProcess({ sourceCode: sleeper }))
    await awaitRunning(id)
    const statuses = (await Promise.all(Array.from({ length: 6 }, () => kill(id)))).map(({ status }) => status)
    expect(statuses).toContain(202)
    expect(statuses.filter((status) => status !== 202 && status !== 400)).toEqual([])
    const execution = await awaitEnd(id)
    expect(statusesOf(execution).filter((status) => status === 'KILLED')).toHaveLength(1)
  })

  test('the runner goes on with the next run at once', async () => {
    const process = await makeProcess({ sourceCode: 'if (svc.context.parameters.hang) for (;;); return 1' })
    const id = await execute(process, { parameters: { hang: true } })
    await awaitRunning(id)
    await kill(id)
    expect((await executeSync(process)).body).toBe(1)
  })
})

describe('rerunning', () => {
  test('it answers 202 with the new id as JSON text, and the same parameters, settings and comment run again', async () => {
    const process = await makeProcess({ sourceCode: 'return svc.context.parameters' })
    const input = { parameters: { a: 1 }, comment: 'again', settings: { timeout: 5000, agentPoolSlug: 'default' } }
    const original = await awaitEnd(await execute(process, input))
    const answer = await rerun(original.id)
    expect(answer.status).toBe(202)
    expect(answer.body).toMatch(/^[0-9a-f-]{36}$/)
    expect(answer.body).not.toBe(original.id)
    const again = await awaitEnd(answer.body)
    expect(again).toMatchObject({
      status: 'FINISHED',
      returnValue: '{"a":1}',
      comment: 'again',
      settings: original.settings,
    })
    expect(await executionOf(original.id)).toEqual(original)
  })

  test('a run of a version runs that version again, one of the current source runs the source of now', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    await publish(process, { tag: 'v1' })
    const [ofVersion, ofSource] = await Promise.all([execute(process, { tag: 'v1' }), execute(process)])
    await Promise.all([awaitEnd(ofVersion), awaitEnd(ofSource)])
    const sourceOf = () => client.get<{ digest: string }>(`/executions/${ofSource}/source`)
    const { body } = await sourceOf()
    const digest = createHash('sha256').update('return 1').digest('hex')
    expect(body).toEqual({ programmingLanguage: 'JAVASCRIPT', sourceCode: 'return 1', digest, modules: [] })
    await client.patch(`/processes/${process.id}`, { sourceCode: 'return 2' })
    expect((await sourceOf()).body).toEqual(body)
    const value = async (id: string): Promise<Execution['returnValue']> =>
      (await awaitEnd((await rerun(id)).body)).returnValue
    expect(await value(ofVersion)).toBe('1')
    expect(await value(ofSource)).toBe('2')
  })

  test('a run of a version that was deleted runs that version again, which nothing else does', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    await publish(process, { tag: 'v1' })
    const id = await execute(process, { tag: 'v1' })
    const { versionId } = await awaitEnd(id)
    expect((await client.delete(`/processes/${process.id}/versions/v1`)).status).toBe(200)
    await client.patch(`/processes/${process.id}`, { sourceCode: 'return 2' })
    const again = await awaitEnd((await rerun(id)).body)
    expect([again.returnValue, again.versionId]).toEqual(['1', versionId])
    const source = await client.get(`/executions/${again.id}/source`)
    expect(source.body).toMatchObject({ sourceCode: 'return 1', versionId, modules: [] })
    for (const tag of ['v1', versionId])
      expectProblem(await client.post(`/processes/${process.id}/execute`, { tag }), 404, { code: 'version_not_found' })
    await publish(process, { tag: 'v1' })
    expect((await awaitEnd(await execute(process, { tag: 'v1' }))).returnValue).toBe('2')
    expect((await awaitEnd((await rerun(again.id)).body)).returnValue).toBe('1')
  })

  test("a body says what is to be otherwise, and what it can't say is refused by its place", async () => {
    const process = await makeProcess({ sourceCode: 'return svc.context.parameters' })
    await publish(process, { tag: 'v1', sourceCode: 'return "v1"' })
    const id = await execute(process, { parameters: { a: 1 }, comment: 'first', settings: { timeout: 5000 } })
    await awaitEnd(id)
    const again = async (body: object) => {
      const answer = await client.post<string>(`/executions/${id}/rerun`, body)
      expect(answer.status, answer.text).toBe(202)
      return awaitEnd(answer.body)
    }
    expect(await again({ parameters: { b: 2 }, settings: { timeout: 700 } })).toMatchObject({
      returnValue: '{"b":2}',
      comment: 'first',
      settings: { timeout: 700, agentPoolSlug: 'default' },
      origin: 'rerun',
      rerunOf: id,
    })
    expect(await again({ tag: 'v1', comment: 'second' })).toMatchObject({
      returnValue: '"v1"',
      tag: 'v1',
      comment: 'second',
      settings: { timeout: 5000 },
    })
    for (const [body, path] of [
      [{ b: 2 }, '/b'],
      [{ parameters: [1] }, '/parameters'],
      [{ settings: { timeout: 1 } }, '/settings/timeout'],
    ] as const)
      expect((expectProblem(await client.post(`/executions/${id}/rerun`, body), 400).errors ?? [])[0]?.path).toBe(path)
    expectProblem(await client.post(`/executions/${id}/rerun`, { tag: 'nope' }), 404, { code: 'version_not_found' })
  })

  test('a failed, a killed and a running execution can be rerun', async () => {
    const process = await makeProcess({
      sourceCode: `if (svc.context.parameters.fail) throw new Error('x'); ${sleeper}`,
    })
    const failed = await execute(process, { parameters: { fail: true } })
    await awaitEnd(failed)
    const running = await execute(process)
    await awaitRunning(running)
    expect((await awaitEnd((await rerun(failed)).body)).status).toBe('ERROR')
    const beside = (await rerun(running)).body
    await awaitRunning(beside)
    expect((await executionOf(running)).status).toBe('RUNNING')
    await kill(beside)
    await kill(running)
    const killed = (await rerun(running)).body
    await awaitRunning(killed)
    expect((await kill(killed)).status).toBe(202)
  })
})

/** The long sleeps of a run, by what no other process of this machine has in its command. */
function sleepers(mark: string): ProcessId[] {
  const lines = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n')
  const pids = lines
    .filter((line) => /^\d+ sleep 30[1-5]\.\d+$/.test(line.trim()) && line.trim().endsWith(mark))
    .map((line) => Number.parseInt(line, 10))
  return pids.flatMap((pid) => processOf(pid) ?? [])
}
