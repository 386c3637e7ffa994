import { Status } from '@automation/contract/execution/v1/execution'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from './python-run.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner({ CODE_GLOBAL_ALIAS: 'other' })
})
afterAll(() => under.stop())

const variables = [
  { key: 'PLAIN', value: 'a b' },
  { key: 'TMP_DATA_DIR', value: '/nowhere' },
]
const request = { headers: { 'x-a': '1' }, rawBody: 'aGk=', isBase64: true, query: { a: ['1'] }, method: 'POST' }
const options = { parameters: { a: { b: [{ c: 1 }] }, items: 2 }, request, spec: { variables } }

const reads: [guarantee: string, expression: string, value: unknown][] = [
  [
    'svc is a global and a module, under both names',
    '[__import__("svc") is svc, __import__("other") is svc, other is svc]',
    [true, true, true],
  ],
  ['parameters by attribute', 'svc.context.parameters.a.b[0].c', 1],
  ['parameters by key', 'svc["context"]["parameters"]["a"]["b"][0]["c"]', 1],
  ['a key with the name of a method', '[svc.context.parameters["items"], len(svc.context.parameters.items())]', [2, 2]],
  [
    'a missing parameter',
    '[svc.context.parameters.get("nope"), hasattr(svc.context.parameters, "nope")]',
    [null, false],
  ],
  [
    'parameters are what json gives',
    '[isinstance(svc.context.parameters, dict), svc.context.parameters]',
    [true, options.parameters],
  ],
  [
    'the request in snake_case',
    '[svc.context.request.raw_body, svc.context.request.is_base64, svc.context.request["raw_body"]]',
    ['aGk=', true, 'aGk='],
  ],
  [
    'the request in camelCase',
    '[svc.context.request.rawBody, svc.context.request["isBase64"], svc.context.request.headers["x-a"]]',
    ['aGk=', true, '1'],
  ],
  ['team variables', '[svc.env.PLAIN, svc.env["PLAIN"], __import__("os").environ["PLAIN"]]', ['a b', 'a b', 'a b']],
  [
    'the execution',
    '[svc.execution.id, svc.execution.process.slug, svc.execution["process"]["name"], svc.execution.timezone]',
    ['run-x', 'demo', 'Demo', 'Europe/Bucharest'],
  ],
  ['no schedule', '[svc.execution.schedule, "schedule" in svc.execution]', [null, false]],
  ['the team', '[svc.team.slug, svc.team["timezone"]]', ['demo', 'Europe/Bucharest']],
  [
    'the private directory',
    '(lambda os: [os.environ["TMP_DATA_DIR"] == os.getcwd() == os.path.expanduser("~"), os.listdir()])(__import__("os"))',
    [true, []],
  ],
  [
    'temporary files are made there',
    '__import__("tempfile").gettempdir() == __import__("os").environ["TMP_DATA_DIR"]',
    true,
  ],
  ['times are UTC', '__import__("time").tzname[0]', 'UTC'],
  [
    'nothing of the service’s environment',
    'sorted(__import__("os").environ)',
    ['HOME', 'LANG', 'PATH', 'PLAIN', 'TMPDIR', 'TMP_DATA_DIR', 'TZ'],
  ],
]

describe('what Python code sees', () => {
  test.for(reads)('%s', async ([, expression, value]) => {
    const ended = await run(under, `return ${expression}`, { ...options, run: { executionId: 'run-x' } })
    expect(ended.explanation).toBeUndefined()
    expect(ended.value).toEqual(value)
  })

  test('where the team has no variable any more stands what stood there without it', async () => {
    const source =
      'import os, time\nreturn [time.localtime(0).tm_hour, os.environ["HOME"] == os.getcwd(), *map(os.environ.get, ("LANG", "PATH", "TZ"))]'
    const of = (named: Record<string, string>) => ({
      spec: { digest: 'same', variables: Object.entries(named).map(([key, value]) => ({ key, value })) },
    })
    const without = (await run(under, source, of({}))).value
    const given = { LANG: 'C', PATH: '/bin', TZ: 'Asia/Tokyo' }
    expect((await run(under, source, of({ ...given, HOME: '/' }))).value).toEqual([9, false, ...Object.values(given)])
    expect(without).toMatchObject([0, true, 'C.UTF-8', expect.any(String), 'UTC'])
    expect((await run(under, source, of({}))).value).toEqual(without)
  })

  test('imports of svc', async () => {
    const source =
      'import svc as s\nfrom svc import context, team as t\nfrom other import env\nreturn [s is svc, context.parameters, t.slug, env]'
    expect((await run(under, source)).value).toEqual([true, {}, 'demo', {}])
  })

  test('a run sees nothing of the one before it', async () => {
    const source =
      'import os, sys, random, builtins, json\nseen = [os.environ.get("LEFT"), hasattr(builtins, "left"), hasattr(json, "left"), os.listdir(), os.listdir(".."), "left" in globals()]\nos.environ["LEFT"] = "1"; builtins.left = json.left = left = 1\nopen("left", "w").close(); open("../left", "w").close()\nos.makedirs("a/b"); os.chmod("a", 0)\nreturn [seen[:4], seen[4] == [os.path.basename(os.getcwd())], seen[5], random.random()]'
    const first = (await run(under, source)).value as unknown[]
    const second = (await run(under, source)).value as unknown[]
    expect(second.slice(0, 3)).toEqual([[null, false, false, []], true, false])
    expect(first.slice(0, 3)).toEqual(second.slice(0, 3))
    expect(first[3]).not.toBe(second[3])
  })
})

describe('calls of Python code', () => {
  beforeAll(() => {
    under.replica.onStart = async () => ({ executionId: 'started', status: Status.RUNNING })
    under.replica.onRun = async ({ parameters }) => ({
      executionId: 'e',
      status: Status.FINISHED,
      returnValue: Buffer.from(`{"got":${Buffer.from(parameters).toString()}}`),
    })
  })

  test.for([
    ['run', 'return svc.processes.run("p", {"parameters": {"a": 1}})', 'started'],
    ['run_sync', 'return svc.processes.run_sync("p", {"parameters": {"a": 1}}).got.a', 1],
    ['runSync with named arguments', 'return svc.processes.runSync("p", parameters={"a": 2})["got"]', { a: 2 }],
    [
      'parameters that are none as texts',
      'return [svc.processes.run_sync("p", parameters=text).got for text in ("", " null", "[]")]',
      [{}, {}, {}],
    ],
    ['in async code', 'async def main(): return svc.processes.run_sync("p").got', {}],
    [
      'in threads',
      'from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(10) as pool:\n    return list(pool.map(lambda n: svc.processes.run_sync("p", parameters={"n": n}).got.n, range(30)))',
      [...Array(30).keys()],
    ],
  ] as const)('%s', async ([, source, value]) => {
    const ended = await run(under, source)
    expect(ended.explanation).toBeUndefined()
    expect(ended.value).toEqual(value)
  })

  test('what is passed on', async () => {
    const settings = '{"timeout": 1000, "retries": None, "freshProcess": True, "agent_pool_slug": "x"}'
    await run(under, `return svc.processes.run("p", {"tag": "v1", "comment": "c", "settings": ${settings}})`)
    const { call } = under.replica.calls.at(-1)!
    expect(call).toMatchObject({ identifier: 'p', tag: 'v1', comment: 'c' })
    expect(call.settings).toMatchObject({ timeoutMs: 1000, freshProcess: true, agentPool: 'x' })
  })

  test.for([
    ['svc.processes.run("")', 'TypeError: The process must be named by its id or slug'],
    [
      'svc.processes.run("p", {"settings": {"timeout": 0}})',
      'TypeError: settings.timeout must be a whole number of milliseconds',
    ],
    ['svc.processes.run("p", parameters=[1])', 'TypeError: parameters must be an object'],
    ['svc.processes.run_sync("p", ms=5)', 'TypeError: There is no ms: there are parameters, tag, comment, settings'],
    [
      'svc.processes.run("p", {"parameters": {}, "tags": "live"})',
      'TypeError: There is no tags: there are parameters, tag, comment, settings',
    ],
    [
      'svc.processes.run("p", settings={"timeout_ms": 1})',
      'TypeError: There is no settings.timeout_ms: there are timeout, agent_pool_slug, callback_url, fresh_process',
    ],
  ])('%s', async ([call, explanation]) => {
    expect((await run(under, call!)).explanation).toBe(explanation)
  })

  test('a run that fails is an error with its id', async () => {
    under.replica.onRun = async () => ({ executionId: 'e', status: Status.ERROR, explanation: 'E: why' })
    const source =
      'try:\n    svc.processes.run_sync("p")\nexcept svc.ProcessError as error:\n    return [str(error), error.execution_id, error.executionId, error.status]'
    expect((await run(under, source)).value).toEqual(['p ended as ERROR: E: why', 'e', 'e', 'ERROR'])
  })
})
