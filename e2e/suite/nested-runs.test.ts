import { describe, expect, test } from 'vitest'
import type { Execution, Page } from '../client/records.ts'
import { awaitEnd, executeSync, executionOf, makeProcess, runProcess, statusesOf } from './runs.ts'
import { client } from './shared-system.ts'

describe('processes that run processes', () => {
  test('runSync gives the value of the other', async () => {
    const child = await makeProcess({
      sourceCode: 'return { got: svc.context.parameters, comment: svc.execution.comment }',
    })
    const parent = await makeProcess({
      sourceCode: `return await svc.processes.runSync(${JSON.stringify(child.slug)}, { parameters: { a: 1 }, comment: 'nested' })`,
    })
    expect((await executeSync(parent)).body).toEqual({ got: { a: 1 }, comment: 'nested' })
  })

  test('run gives the id of an execution that goes on by itself, created by the creator of its parent', async () => {
    const child = await makeProcess({ sourceCode: 'return 5' })
    const parent = await makeProcess({ sourceCode: `return svc.processes.run('${child.id}')` })
    const { answer, execution } = await runProcess(parent)
    const nested = await awaitEnd(answer.body as string)
    expect(nested).toMatchObject({
      processId: child.id,
      status: 'FINISHED',
      returnValue: '5',
      createdBy: execution.createdBy,
      parentId: execution.id,
      origin: 'process',
    })
    const children = await client.get<Page<Execution>>(`/executions/${execution.id}/children`)
    expect(children.body).toMatchObject({ total: 1, data: [{ id: nested.id, parentId: execution.id }] })
    expect((await client.get<Page<Execution>>(`/executions/${nested.id}/children`)).body.total).toBe(0)
  })

  test('tag and settings go along', async () => {
    const child = await makeProcess({ sourceCode: 'return "now"' })
    await client.post(`/processes/${child.id}/versions`, { tag: 'v1', sourceCode: 'return "then"' })
    const parent = await makeProcess({
      sourceCode: `return [await svc.processes.runSync('${child.id}', { tag: 'v1' }),
        await svc.processes.run('${child.id}', { settings: { timeout: 1234 } })]`,
    })
    const { body } = await executeSync<[string, string]>(parent)
    expect(body[0]).toBe('then')
    expect((await executionOf(body[1])).settings.timeout).toBe(1234)
  })

  test('a child that fails rejects in the parent, which may catch it', async () => {
    const child = await makeProcess({ sourceCode: 'throw new RangeError("child broke")' })
    const source = `try { await svc.processes.runSync('${child.id}') } catch (error) { return error.message }`
    expect((await executeSync(await makeProcess({ sourceCode: source }))).body).toMatch(/child broke/)
    const uncaught = await runProcess(await makeProcess({ sourceCode: `return svc.processes.runSync('${child.id}')` }))
    expect(uncaught.execution.status).toBe('ERROR')
  })

  test.for([
    ['an unknown process', "'no-such-process'", /not found/i],
    ['an unknown tag', 'svc.execution.process.id, { tag: "nope" }', /not found/i],
    ['wrong settings', 'svc.execution.process.id, { settings: { timeout: 1 } }', /timeout/i],
  ] as const)('%s rejects with words', async ([, args, text]) => {
    for (const method of ['run', 'runSync']) {
      const source = `try { return await svc.processes.${method}(${args}) } catch (error) { return error.message }`
      expect((await executeSync(await makeProcess({ sourceCode: source }))).body).toMatch(text)
    }
  })

  test('many children at once all answer', async () => {
    const child = await makeProcess({ sourceCode: 'return svc.context.parameters.n * 2' })
    const parent = await makeProcess({
      sourceCode: `return Promise.all(Array.from({ length: 20 }, (_, n) => svc.processes.runSync('${child.id}', { parameters: { n } })))`,
    })
    expect((await executeSync(parent)).body).toEqual(Array.from({ length: 20 }, (_, n) => n * 2))
  })

  test('recursion works to a depth of 16, then the caller gets an error', async () => {
    const process = await makeProcess({
      sourceCode: `const { depth } = svc.context.parameters
        try { return await svc.processes.runSync(svc.execution.process.id, { parameters: { depth: depth + 1 } }) }
        catch (error) { return { depth, error: error.message } }`,
    })
    const { body } = await executeSync<{ depth: number; error: string }>(process, { parameters: { depth: 0 } })
    expect(body.depth).toBeGreaterThanOrEqual(15)
    expect(body.depth).toBeLessThanOrEqual(16)
    expect(body.error).toMatch(/deep|depth|nest/i)
  })

  test('the wait is bounded by the remaining time of the caller', async () => {
    const child = await makeProcess({ sourceCode: 'await new Promise((done) => setTimeout(done, 120_000))' })
    const parent = await makeProcess({
      sourceCode: `return svc.processes.runSync('${child.id}', { settings: { timeout: 1000 } })`,
    })
    const started = performance.now()
    const { execution } = await runProcess(parent, { settings: { timeout: 1500 } })
    expect(performance.now() - started).toBeLessThan(30_000)
    expect(execution.status).toBe('ERROR')
  })

  test('a nested run is an execution like any other', async () => {
    const child = await makeProcess({ sourceCode: 'return svc.execution.id' })
    const { body } = await executeSync<string>(
      await makeProcess({ sourceCode: `return svc.processes.runSync('${child.slug}')` }),
    )
    const nested = await executionOf(body)
    expect(nested.status).toBe('FINISHED')
    expect(statusesOf(nested).at(-1)).toBe('FINISHED')
  })
})
