import { Status } from '@automation/contract/execution/v1/execution'
import { Failure } from '@automation/errors'
import { until } from '@automation/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { lines, ScriptedReplica } from './scripted-replica.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  process.env['SECRET_OF_THE_SERVICE'] = 'never'
  under = await startRunner({ RUNNER_SLOTS: '2' })
})
afterAll(() => under.stop())

const run = (source: string, options = {}) => under.replica.run(source, options)

test('a run sees its parameters, its execution and its team', async () => {
  const { value } = await run('return [svc.context, svc.execution, svc.team]', {
    parameters: { a: [1, 'ü'], ['__proto__']: 2 },
    run: { executionId: 'e-1', comment: 'why', scheduleId: 's-1', scheduleComment: 'daily' },
  })
  expect(value).toEqual([
    { parameters: { a: [1, 'ü'], ['__proto__']: 2 } },
    {
      id: 'e-1',
      comment: 'why',
      process: { id: 'p-1', name: 'Demo', slug: 'demo' },
      schedule: { id: 's-1', comment: 'daily' },
      timezone: 'Europe/Bucharest',
    },
    { slug: 'demo', timezone: 'Europe/Bucharest' },
  ])
})

test('a run from a webhook sees the request, others none', async () => {
  const request = {
    headers: { 'x-a': 'b' },
    query: { q: ['1', '2'] },
    method: 'POST',
    rawBody: '{"a":1}',
    isBase64: false,
  }
  expect((await run('return svc.context.request', { request })).value).toEqual(request)
  expect((await run('return "request" in svc.context')).value).toBe(false)
})

test('variables are in svc.env and in the environment, with nothing of the service', async () => {
  const variables = [
    { key: 'API_URL', value: 'https://example.org', isSensitive: false },
    { key: 'TZ', value: 'Asia/Tokyo', isSensitive: false },
    { key: 'TMP_DATA_DIR', value: '/etc', isSensitive: false },
  ]
  const source = 'return [svc.env, { ...process.env }, new Date(0).getHours()]'
  const { value } = await run(source, { spec: { variables } })
  const [env, environment, hour] = value as [object, Record<string, string>, number]
  expect(env).toEqual({ API_URL: 'https://example.org', TZ: 'Asia/Tokyo', TMP_DATA_DIR: '/etc' })
  expect(Object.keys(environment).toSorted()).toEqual([
    'API_URL',
    'HOME',
    'LANG',
    'PATH',
    'TMPDIR',
    'TMP_DATA_DIR',
    'TZ',
  ])
  expect(environment['TMP_DATA_DIR']).not.toBe('/etc')
  expect(hour).toBe(9)
})

test('variables are those of the run, not of the child', async () => {
  const source = 'return [svc.env.A, process.env.A]'
  const variables = (value: string) => ({
    spec: { variables: [{ key: 'A', value, isSensitive: false }], digest: 'same' },
  })
  expect((await run(source, variables('1'))).value).toEqual(['1', '1'])
  expect((await run(source, variables('2'))).value).toEqual(['2', '2'])
  expect((await run(source, { spec: { digest: 'same' } })).value).toEqual([null, null])
})

test('where the team has no variable any more stands what stood there without it', async () => {
  const source = 'return [new Date(0).getHours(), process.env.LANG, process.env.PATH, process.env.TZ]'
  const of = (named: Record<string, string>) => ({
    spec: { digest: 'same', variables: Object.entries(named).map(([key, value]) => ({ key, value })) },
  })
  const without = (await run(source, of({}))).value
  const given = { LANG: 'C', PATH: '/bin', TZ: 'Asia/Tokyo' }
  expect((await run(source, of(given))).value).toEqual([9, ...Object.values(given)])
  expect((await run(source, of({}))).value).toEqual(without)
})

describe('svc.processes', () => {
  beforeEach(() => {
    under.replica.calls.length = 0
  })

  test('run asks with the rights and the deadline of the run, and gives the execution id', async () => {
    under.replica.onStart = async () => ({ executionId: 'started-1', status: Status.CREATED })
    const source =
      'return await svc.processes.run("orders", { parameters: { a: 1 }, tag: "v1", comment: "c", settings: { timeout: 500, freshProcess: true, agentPoolSlug: "p" } })'
    expect((await run(source, { run: { executionId: 'caller' } })).value).toBe('started-1')
    const [{ method, call, context } = expect.fail()] = under.replica.calls
    expect(method).toBe('run')
    expect(call).toMatchObject({ callNumber: 1, identifier: 'orders', tag: 'v1', comment: 'c' })
    expect(Buffer.from(call.parameters).toString()).toBe('{"a":1}')
    expect(call.settings).toMatchObject({ timeoutMs: 500, freshProcess: true, agentPool: 'p' })
    expect(context.principal).toMatchObject({ role: 'run', token: 'token of caller' })
    expect(context.deadlineMs! - Date.now()).toBeLessThanOrEqual(30_000)
  })

  test('runSync gives the value; calls are numbered and may be open at once', async () => {
    under.replica.onRun = async ({ callNumber, identifier }) => ({
      executionId: identifier,
      status: Status.FINISHED,
      returnValue: Buffer.from(JSON.stringify({ callNumber, big: 'x'.repeat(200_000) })),
    })
    const source =
      'const all = await Promise.all(["a", "b", "c"].map((p) => svc.processes.runSync(p)))\nreturn all.map((r) => r.callNumber)'
    expect((await run(source)).value).toEqual([1, 2, 3])
    expect(Buffer.from(under.replica.calls[0]!.call.parameters).toString()).toBe('{}')
  })

  test.for([
    [Status.ERROR, 'orders ended as ERROR: TypeError: no', 'TypeError: no'],
    [Status.KILLED, 'orders ended as KILLED', undefined],
    [Status.REJECTED, 'orders ended as REJECTED', undefined],
  ] as const)('a run that ends as %i throws, with the user’s line', async ([status, message, explanation]) => {
    under.replica.onRun = async () => ({ executionId: 'e-9', status, explanation })
    const ended = await run(
      'try {\n  await svc.processes.runSync("orders")\n} catch (e) { console.log(e.executionId); throw e }',
    )
    expect(ended.explanation).toBe(`ProcessError: ${message}`)
    expect(lines(ended.log)[0]).toBe('INFO e-9')
    expect(ended.log.at(-1)!.message).toContain('demo.js:2:')
  })

  test('a call that is refused throws its words and code', async () => {
    under.replica.onStart = async () => {
      throw new Failure('not_found', 'process_not_found', 'Process not found')
    }
    const { value } = await run('try { await svc.processes.run("x") } catch (e) { return [e.name, e.message, e.code] }')
    expect(value).toEqual(['ProcessError', 'Process not found', 'process_not_found'])
  })

  test('parameters that are none as texts are an empty object', async () => {
    under.replica.onStart = async () => ({ executionId: 'started', status: Status.CREATED })
    await run(
      'for (const parameters of ["", " null", "[]"]) await svc.processes.run("a", { parameters, priority: undefined })',
    )
    expect(under.replica.calls.map(({ call }) => Buffer.from(call.parameters).toString())).toEqual(['{}', '{}', '{}'])
  })

  test('arguments of the wrong kind are refused before anything is asked', async () => {
    for (const call of [
      'run()',
      'run("a", { parameters: 1 })',
      'run("a", { tag: 1 })',
      'runSync("a", { settings: { timeout: -1 } })',
    ])
      expect((await run(`await svc.processes.${call}`)).explanation).toMatch(/^TypeError: /)
    expect(under.replica.calls).toEqual([])
  })

  test.for([
    ['run("a", { params: {} })', 'There is no params: there are parameters, tag, comment, settings'],
    ['runSync("a", { ms: 5 })', 'There is no ms: there are parameters, tag, comment, settings'],
    [
      'run("a", { settings: { timeoutMs: 1 } })',
      'There is no settings.timeoutMs: there are timeout, agentPoolSlug, callbackUrl, freshProcess',
    ],
    ['run("a", "v1")', 'What the process gets must be an object with parameters, tag, comment, settings'],
  ] as const)('%s is refused, not left out', async ([call, message]) => {
    expect((await run(`await svc.processes.${call}`)).explanation).toBe(`TypeError: ${message}`)
    expect(under.replica.calls).toEqual([])
  })

  test('a call that nobody waits for is made, and the next run is well', async () => {
    under.replica.onStart = async () => ({ executionId: 'started', status: Status.CREATED })
    const source = 'svc.processes.run("later"); return 1'
    expect((await run(source)).value).toBe(1)
    await until(() => under.replica.calls.length === 1)
    expect((await run(source)).value).toBe(1)
  })

  test('timers go on while a call is open', async () => {
    under.replica.onRun = async () => {
      await until(() => under.replica.logOf(id).length > 0, { what: 'the timer' })
      return { status: Status.FINISHED, returnValue: Buffer.from('1') }
    }
    const { id, ended } = under.replica.hand(
      'setTimeout(() => console.log("tick"), 5); await svc.processes.runSync("a"); console.log("end")',
    )
    expect(lines((await ended).log)).toEqual(['INFO tick', 'INFO end'])
  })

  test('as many parents as slots, all in runSync, finish: a waiting run gives its slot back', async () => {
    const replica = under.replica
    replica.onRun = async ({ identifier }) => {
      await until(() => replica.credit > 0, { what: 'a slot for the child' })
      const { value } = await replica.run(`return "${identifier} done"`)
      return { status: Status.FINISHED, returnValue: Buffer.from(JSON.stringify(value)) }
    }
    await until(() => replica.credit === 2)
    const parents = ['a', 'b'].map((name) => run(`return await svc.processes.runSync("${name}")`))
    expect((await Promise.all(parents)).map(({ value }) => value)).toEqual(['a done', 'b done'])
    await until(() => replica.credit === 2, { what: 'all slots granted again' })
  })

  test('a run with several calls open takes no slot until the last is answered', async () => {
    const replica = under.replica
    await until(() => replica.credit === 2)
    const { ended: blocker } = replica.hand('await new Promise((r) => setTimeout(r, 500)); return 0')
    const atLast = Promise.withResolvers<void>()
    replica.onRun = async ({ identifier }) => {
      if (identifier === 'late') await atLast.promise
      return { status: Status.FINISHED, returnValue: Buffer.from('1') }
    }
    const { id, ended } = replica.hand(
      'const late = svc.processes.runSync("late"); await svc.processes.runSync("early"); console.log("early"); return late',
    )
    await until(() => replica.logOf(id).length > 0)
    await blocker
    await until(() => replica.credit === 2, { what: 'its slot, while a call is open' })
    expect((await replica.run('return 2')).value).toBe(2)
    atLast.resolve()
    expect((await ended).value).toBe(1)
    await until(() => replica.credit === 2, { what: 'all slots granted again' })
  })
})

test('a value of a run that has ended is not asked for', async () => {
  const { runner, replica, stop } = await startRunner({}, new ScriptedReplica())
  let isAborted = false
  replica.onRun = async () => new Promise(() => {})
  const { id, ended } = replica.hand('await svc.processes.runSync("forever")')
  await until(() => replica.calls.length === 1)
  replica.calls[0]!.context.signal.addEventListener('abort', () => (isAborted = true))
  replica.kill(id)
  await until(() => isAborted)
  void ended
  expect((await runner.ready()).every(({ ok }) => ok)).toBe(true)
  await stop()
})
