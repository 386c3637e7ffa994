import { beforeAll, describe, expect, test } from 'vitest'
import { client, clientAt, unique } from './installed.ts'

const pas = clientAt()
const echo = unique('echo')
const sleeper = unique('sleeper')

beforeAll(async () => {
  await pas.processes.create({
    name: echo,
    sourceCode: `console.log('one'); console.warn('two')
      const { fail, ...given } = svc.context.parameters
      if (fail) throw new TypeError(fail)
      return given`,
  })
  await pas.processes.create({
    name: sleeper,
    sourceCode: "console.log('asleep'); await new Promise((done) => setTimeout(done, 60_000))",
  })
})

describe('a run', () => {
  test('is followed line by line, gives its value, and is found as it was started', async () => {
    const started = { comment: 'a test', timeoutMs: 30_000, initiatedBy: 'Łukasz' }
    const run = await pas.processes.run(echo, { name: 'Ada', list: [1, null] }, started)
    const lines = await Array.fromAsync(run.logs(), ({ level, message }) => [level, message])
    expect(lines).toEqual([
      ['INFO', 'one'],
      ['WARNING', 'two'],
    ])
    expect(await run.result<{ name: string }>()).toEqual({ name: 'Ada', list: [1, null] })
    expect(await run.get()).toMatchObject({
      ...{ status: 'FINISHED', comment: 'a test', initiatedBy: 'Łukasz', settings: { timeout: 30_000 } },
    })
  })

  test('that returns nothing gives null; the value of a draft is that of the draft', async () => {
    expect(await pas.processes.call(echo, {}, { draft: { sourceCode: 'return' } })).toBeNull()
    const run = await pas.processes.runDraft({ sourceCode: 'return 6 * 7', programmingLanguage: 'JAVASCRIPT' })
    expect(await run.result()).toBe(42)
  })

  test('that fails is thrown with its reason and the end of its log', async () => {
    const failure = await pas.processes.call(echo, { fail: 'no name' }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(client.RunError)
    expect(failure).toMatchObject({ name: 'RunError', status: 'ERROR', explanation: 'TypeError: no name' })
    expect((failure as InstanceType<typeof client.RunError>).logTail.slice(0, 2)).toEqual(['one', 'two'])
  })

  test('that takes longer than it was given ends, and says so', async () => {
    const failure = await pas.processes.call(sleeper, {}, { timeoutMs: 300 }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ status: 'ERROR', explanation: expect.stringMatching(/longer than the 0.3 s/) })
  })

  test('goes on where its waiter gives up, and is killed where he said so', async () => {
    const [patient, deadly] = [new AbortController(), new AbortController()]
    const waited = await pas.processes.run(sleeper, {}, { signal: patient.signal })
    const killed = await pas.processes.run(sleeper, {}, { signal: deadly.signal, killOnAbort: true })
    await waited.logs().next()
    await killed.logs().next()
    const ends = [waited.result(), killed.result()].map((end) => end.catch((error: unknown) => error))
    patient.abort(new Error('enough'))
    deadly.abort(new Error('enough'))
    expect(await Promise.all(ends)).toEqual([new Error('enough'), new Error('enough')])
    expect((await pas.executions.run(killed.id).wait()).status).toBe('KILLED')
    expect((await pas.executions.get(waited.id)).status).toBe('RUNNING')
    expect(await pas.executions.kill(waited.id)).toBe(true)
    expect((await pas.executions.run(waited.id).wait()).status).toBe('KILLED')
    expect(await pas.executions.kill(waited.id)).toBe(false)
  })

  test('is listed by its status and started again with other parameters', async () => {
    const { id } = await pas.processes.get(echo)
    const failed = await pas.processes.run(echo, { fail: 'again' })
    await failed.wait()
    const found = await pas.executions.list({ processId: id, status: 'ERROR', limit: 1 }).toArray(1)
    expect(found.map((execution) => execution.id)).toEqual([failed.id])
    const again = await found[0]!.rerun({ parameters: { name: 'Ada' } })
    expect(await again.result()).toEqual({ name: 'Ada' })
    expect((await again.get()).rerunOf).toBe(failed.id)
    expect(JSON.stringify(found[0])).not.toContain('"rerun"')
    const logged = await Array.fromAsync(pas.executions.allLogs(again.id, { level: ['WARNING'] }))
    expect(logged.map(({ message }) => message)).toEqual(['two'])
  })

  test('of code that is not saved says all about itself', async () => {
    const run = await pas.sources.run('console.log(1); return svc.context.parameters.a', { parameters: { a: 'b' } })
    expect(run).toMatchObject({ status: 'FINISHED', returnValue: '"b"', logs: [{ message: '1' }] })
  })
})

test('a list is read by pages of any size, without a gap and without one twice', async () => {
  const process = await pas.processes.create({ name: unique(), sourceCode: 'return 1' })
  const runs = await Promise.all(Array.from({ length: 7 }, () => pas.processes.run(process.slug)))
  await Promise.all(runs.map((run) => run.wait()))
  const ids = runs.map(({ id }) => id).toSorted()
  for (const limit of [2, 7, 100]) {
    const listed = await pas.executions.list({ processId: process.id, limit }).toArray()
    expect(listed.map(({ id }) => id).toSorted()).toEqual(ids)
  }
  const page = await pas.executions.list({ processId: process.id, limit: 3 }).page({ page: 2 })
  expect(page).toMatchObject({ page: 2, total: 7, hasNextPage: false, data: [expect.anything()] })
})
