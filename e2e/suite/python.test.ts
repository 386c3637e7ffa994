import { describe, expect, test } from 'vitest'
import { awaitEnd, awaitRunning, execute, executeSync, makeProcess } from './runs.ts'
import { expectLastWord, runProcess, statusesOf } from './runs.ts'
import { client, shared } from './shared-system.ts'

const python = (sourceCode: string, fields: Record<string, unknown> = {}) =>
  makeProcess({ programmingLanguage: 'PYTHON', sourceCode, ...fields })

const run = async (source: string, input: Record<string, unknown> = {}) => runProcess(await python(source), input)

const valueOf = async (source: string) => {
  const answer = await executeSync(await python(source))
  expect(answer.status, answer.text.slice(0, 1000)).toBe(203)
  return answer.body
}

describe('the forms of Python code', () => {
  test.for([
    ['a top-level return', 'return 1 + 1', 2],
    ['nothing', '', null],
    ['async main', 'import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    return 5', 5],
    ['from svc import context', 'from svc import context\nreturn context.parameters', {}],
  ] as const)('%s', async ([, source, value]) => {
    expect(await valueOf(source)).toEqual(value)
  })
})

describe('what Python code sees', () => {
  test('the request of a webhook, in both manners of writing', async () => {
    const source = 'return [svc.context.request.method, svc.context.request.raw_body, svc.context.request["rawBody"]]'
    const { slug } = await python(source, { webhook: { enabled: true } })
    const headers = { 'content-type': 'text/plain' }
    expect((await client.webhook('POST', slug, { body: 'raw', headers })).text).toBe('["POST","raw","raw"]')
  })

  test('nothing of the service in its environment and arguments', async () => {
    const shown = JSON.stringify(await valueOf('import os, sys\nreturn [dict(os.environ), sys.argv, sys.path]'))
    for (const secret of ['DATABASE_URL', 'INTERNAL_KEY', 'ENCRYPTION_KEY', 'RUNNER_KEY', shared.main.apiToken])
      expect(shown).not.toContain(secret)
  })

  test('a second run sees nothing of the first', async () => {
    const source =
      'import os, builtins\nseen = [hasattr(builtins, "left"), os.environ.get("LEFT"), os.listdir()]\nbuiltins.left = 1\nos.environ["LEFT"] = "1"\nopen("left", "w").close()\nreturn seen'
    const process = await python(source)
    for (let each = 0; each < 3; each += 1) expect((await executeSync(process)).body).toEqual([false, null, []])
  })
})

describe('how Python code ends', () => {
  test.for([
    ['an exception', 'raise ValueError("no")', /^ValueError: no$/],
    ['out of memory', 'a = []\nwhile True: a.append(bytearray(10_000_000))', /^OutOfMemoryError: /],
  ] as const)('%s is an ERROR with the reason', async ([, source, explanation]) => {
    const { execution, logs } = await run(source)
    expect(execution.status).toBe('ERROR')
    expect(execution.timeline.events.at(-1)?.explanation).toMatch(explanation)
    expect(logs.at(-1)?.level).toBe('ERROR')
    expect(logs.at(-1)?.message).toMatch(new RegExp(explanation.source.replace(/\$$/, ''), 'm'))
  })

  test('a run can be killed', async () => {
    const id = await execute(await python('import time\ntime.sleep(100)'))
    await awaitRunning(id)
    expect((await client.put(`/executions/${id}/kill`)).status).toBe(202)
    expect((await awaitEnd(id)).status).toBe('KILLED')
  })

  test('its time is bounded', async () => {
    const { execution } = await run('while True: pass', { settings: { timeout: 500 } })
    expect(execution.timeline.events.at(-1)?.explanation).toMatch(/^TimeoutError: /)
    await expectLastWord(execution)
  })
})

describe('Python processes that run processes', () => {
  test('run_sync gives the value of the other, in whichever language', async () => {
    const child = await makeProcess({ sourceCode: 'return { got: svc.context.parameters }' })
    const source = `return svc.processes.run_sync("${child.slug}", {"parameters": {"a": 1}}).got.a`
    expect(await valueOf(source)).toBe(1)
  })

  test('JavaScript runs Python', async () => {
    const child = await python('return svc.context.parameters.n * 2')
    const parent = await makeProcess({
      sourceCode: `return svc.processes.runSync('${child.id}', { parameters: { n: 21 } })`,
    })
    expect((await executeSync(parent)).body).toBe(42)
  })

  test('run gives the id of an execution that goes on by itself', async () => {
    const child = await python('return 5')
    const id = await valueOf(`return svc.processes.run("${child.id}")`)
    const nested = await awaitEnd(String(id))
    expect(nested).toMatchObject({ processId: child.id, returnValue: '5' })
    expect(statusesOf(nested).at(-1)).toBe('FINISHED')
  })

  test('a child that fails raises in the parent, which may catch it', async () => {
    const child = await python('raise ValueError("child broke")')
    const source = `try:\n    svc.processes.run_sync("${child.id}")\nexcept Exception as error:\n    return str(error)`
    expect(await valueOf(source)).toMatch(/child broke/)
  })

  test('many children at once all answer', async () => {
    const child = await python('return svc.context.parameters.n * 2')
    const source = `from concurrent.futures import ThreadPoolExecutor\ndef ask(n): return svc.processes.run_sync("${child.id}", parameters={"n": n})\nwith ThreadPoolExecutor(10) as pool: return list(pool.map(ask, range(20)))`
    expect(await valueOf(source)).toEqual(Array.from({ length: 20 }, (_, n) => n * 2))
  })
})
