import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { StandIn } from './stand-in.ts'

const executionId = '0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04'
const base = '/api/demo/rest'

/** What the service says to a call, by its `METHOD path`; what is not here is not found. */
type Answers = Record<string, (request: IncomingMessage, response: ServerResponse) => unknown>

const service = (answers: Answers) =>
  StandIn.that((request, response) => {
    const path = request.url!.replace(base, '').replace(/\?.*/, '')
    const answer = answers[`${request.method} ${path}`]
    if (answer === undefined) json(response, { status: 404, code: 'not_found', detail: `No ${path}` }, 404)
    else answer(request, response)
  })

function json(response: ServerResponse, body: object, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

function stream(response: ServerResponse, ...events: [event: string, data: object][]): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const [event, data] of events) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  return response
}

const execution = (status: string) => ({
  ...{ id: executionId, processSlug: 'slow', status, createdAt: '2026-11-26T08:00:00Z' },
  timeline: { events: [] },
  ...(status === 'FINISHED' && { returnValue: '42' }),
})
const entry = (message: string) => ({ timestamp: '2026-11-26T08:00:00.000Z', level: 'INFO', message })
const started: Answers = { 'POST /processes/slow/execute': (_, response) => json(response, { executionId }, 202) }
const events = `GET /executions/${executionId}/events`
const record = `GET /executions/${executionId}`
const log = `GET /executions/${executionId}/logs`
const kill = `PUT /executions/${executionId}/kill`
/** So long a pause is wanted that no other attempt is made. */
const used = (response: ServerResponse) =>
  json(response, { status: 429, code: 'too_many_streams', detail: 'The team has 100 live streams open' }, 429, {
    'retry-after': '61',
  })

describe('pas run', () => {
  test('asks for the record where the team has as many live streams as it may, and shows each line once', async () => {
    let opened = 0
    let asked = 0
    await using standIn = await service({
      ...started,
      [events]: (_, response) => {
        opened += 1
        if (opened > 1) return used(response)
        return stream(response, ['log', entry('one')]).end()
      },
      [record]: (_, response) => json(response, execution((asked += 1) > 2 ? 'FINISHED' : 'RUNNING')),
      [log]: (_, response) => {
        const lines = ['one', 'two', 'three'].map((message) => `${JSON.stringify(entry(message))}\n`)
        response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(lines.join(''))
      },
    })
    const { code, stdout, stderr } = await standIn.start(['run', 'slow']).ended
    expect([code, stdout]).toEqual([0, '42\n'])
    expect(stderr.split('\n').filter((line) => /^(one|two|three)$/.test(line))).toEqual(['one', 'two', 'three'])
    expect(stderr).toContain('live streams')
  })

  test.each([[[]], [['--json']]])(
    'says of a value that is too deep for it that the run is FINISHED: %j',
    async (flags) => {
      await using standIn = await service({
        ...started,
        [events]: (_, response) => stream(response, ['end', { status: 'FINISHED' }]).end(),
        [record]: (_, response) =>
          json(response, { ...execution('FINISHED'), returnValue: `${'['.repeat(20_000)}${']'.repeat(20_000)}` }),
      })
      const { code, stderr } = await standIn.start(['run', 'slow', ...flags]).ended
      expect([code, stderr]).toEqual([1, expect.stringContaining(`The run ${executionId} is FINISHED`)])
      expect(stderr).toContain(`pas api GET /executions/${executionId}`)
    },
  )

  test.skipIf(!existsSync('/dev/full'))('says so where its output has no place', async () => {
    await using standIn = await service({
      ...started,
      [events]: (_, response) => stream(response, ['end', { status: 'FINISHED' }]).end(),
      [record]: (_, response) => json(response, execution('FINISHED')),
    })
    const { code, stderr } = await standIn.start(['run', 'slow'], {}, '/dev/full').ended
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: The output can't be written: .*ENOSPC.*\n$/)])
  })

  test('whose following fails says which run it is, and how to look at it', async () => {
    await using standIn = await service({
      ...started,
      [events]: (_, response) =>
        json(response, { status: 500, code: 'internal', detail: 'A fault' }, 500, { 'x-request-id': 'req-1' }),
    })
    const words = await standIn.start(['run', 'slow']).ended
    expect([words.code, words.stderr]).toEqual([1, expect.stringContaining(`pas executions show ${executionId}`)])
    expect(words.stderr).toContain('A fault')
    const { code, stderr } = await standIn.start(['run', 'slow', '--json']).ended
    const { error } = JSON.parse(stderr) as { error: object }
    expect(code).toBe(1)
    expect(error).toMatchObject({ code: 'internal', message: expect.stringContaining(executionId) as string })
  })

  test('sends and prints numbers as they are written', async () => {
    const written = '{"id":12345678901234567890,"n":1.0}'
    let sent = ''
    await using standIn = await service({
      'POST /processes/slow/execute': async (request, response) => {
        sent = (await buffer(request)).toString()
        json(response, { executionId }, 202)
      },
      [events]: (_, response) => stream(response, ['end', { status: 'FINISHED' }]).end(),
      [record]: (_, response) => json(response, { ...execution('FINISHED'), returnValue: written }),
    })
    const run = standIn.start(['run', 'slow', '-f', '-', '-p', 'n:=1.0', '--json'])
    run.child.stdin.end('{"id": 12345678901234567890}')
    const { code, stdout } = await run.ended
    expect([code, sent, stdout]).toEqual([0, expect.stringContaining(written), expect.stringContaining(written)])
  })

  test('sends the schema beside a source with all its digits', async () => {
    let sent = ''
    await using standIn = await service({
      'POST /processes/slow/execute': async (request, response) => {
        sent = (await buffer(request)).toString()
        json(response, { executionId }, 202)
      },
    })
    const folder = join(standIn.folder, 'processes/slow')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'main.js'), 'return 1\n')
    await writeFile(join(folder, 'parameters.schema.json'), '{ "maximum": 9223372036854775807 }')
    expect(await standIn.start(['run', 'processes/slow/main.js', '--detach']).ended).toMatchObject({ code: 0 })
    expect(sent).toContain('{"maximum":9223372036854775807}')
  })

  test.each([[[]], [['--detach']]])(
    'Ctrl-C while its start is under way kills it once it has started, and the second one leaves: %j',
    async (options) => {
      let answerStart = () => {}
      let isKilled = false
      await using standIn = await service({
        'POST /processes/slow/execute': (_, response) => (answerStart = () => json(response, { executionId }, 202)),
        [events]: (_, response) => {
          const over = () => (isKilled ? stream(response, ['end', { status: 'KILLED' }]).end() : setTimeout(over, 5))
          over()
        },
        [record]: (_, response) => json(response, execution('KILLED')),
        [kill]: (_, response) => {
          isKilled = true
          response.writeHead(204).end()
        },
      })
      const starts = () => standIn.requests.filter((line) => line.startsWith('POST')).length
      const first = standIn.start(['run', 'slow', ...options])
      await expect.poll(starts).toBe(1)
      first.child.kill('SIGINT')
      await expect.poll(() => first.stderr).toContain('start is under way')
      answerStart()
      expect((await first.ended).code).toBe(130)
      expect(isKilled).toBe(true)
      const second = standIn.start(['run', 'slow', ...options])
      await expect.poll(starts).toBe(2)
      second.child.kill('SIGINT')
      await expect.poll(() => second.stderr).toContain('start is under way')
      second.child.kill('SIGINT')
      expect((await second.ended).code).toBe(130)
    },
  )
})

test.skipIf(!existsSync('/dev/full'))('pas --version says so where its output has no place', async () => {
  await using standIn = await service({})
  const { code, stderr } = await standIn.start(['--version'], {}, '/dev/full').ended
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: The output can't be written: .*ENOSPC.*\n$/)])
})

test('pas logs -f waits for a service that is away while it reads what was, and tells each line once', async () => {
  let asked = 0
  await using standIn = await service({
    'GET /processes/slow': (_, response) => json(response, { id: 'p', slug: 'slow' }),
    'GET /events': (_, response) => void stream(response),
    'GET /executions': (_, response) => json(response, { data: [execution('FINISHED')], page: 0, limit: 20, total: 1 }),
    [log]: (request, response) => {
      asked += 1
      // Longer than the client by itself tries again.
      if (asked > 1 && asked < 5) return response.socket?.destroy()
      const page = Number(new URL(request.url!, 'http://here').searchParams.get('page') ?? 0)
      json(response, { data: [entry(['one', 'two'][page]!)], page, limit: 1, total: 2, hasNextPage: page === 0 })
    },
  })
  const logs = standIn.start(['logs', '--process', 'slow', '-f'])
  await expect.poll(() => logs.stdout, { timeout: 20_000 }).toContain('two')
  expect(logs.stdout.match(/one/g)).toHaveLength(1)
  expect(logs.stderr).toBe('The service does not answer: waiting for it.\n')
})

test('pas logs -f says where lines may be missing, as its stream fell behind', async () => {
  await using standIn = await service({
    'GET /events': (_, response) => stream(response, ['gap', {}]),
    'GET /executions': (_, response) => json(response, { data: [], total: 0, page: 0, limit: 20 }),
  })
  const logs = standIn.start(['logs', '-f'])
  await expect.poll(() => logs.stderr).toContain('may be missing')
  logs.child.kill('SIGINT')
  expect((await logs.ended).code).toBe(130)
})

test('the second Ctrl-C leaves pas dev while the end of its run is waited for', async () => {
  await using standIn = await service({
    ...started,
    [events]: (_, response) => stream(response, ['log', entry('begun')]),
    [kill]: (_, response) => response.writeHead(204).end(),
  })
  const folder = join(standIn.folder, 'processes/slow')
  await mkdir(folder, { recursive: true })
  await Promise.all([
    writeFile(join(folder, 'main.js'), 'return 1\n'),
    writeFile(join(standIn.folder, 'pas.yaml'), 'layout: 1\n'),
  ])
  const dev = standIn.start(['dev', 'slow'])
  await expect.poll(() => dev.stderr).toContain('begun')
  dev.child.kill('SIGINT')
  await expect.poll(() => standIn.requests.at(-1)).toMatch(/^PUT .*kill$/)
  dev.child.kill('SIGINT')
  expect((await dev.ended).code).toBe(130)
})

describe('runs that go on', () => {
  const page = (...data: object[]) => ({ data, total: data.length, page: 0, limit: 20 })
  const running = (id: string) => ({ ...execution('RUNNING'), id })

  test('are in pas logs --since, however long ago they were made', async () => {
    await using standIn = await service({
      'GET /executions': (request, response) =>
        json(response, request.url!.includes('from=') ? page() : page(execution('RUNNING'))),
      [log]: (_, response) => json(response, page({ ...entry('still here'), timestamp: new Date().toISOString() })),
    })
    const { code, stdout } = await standIn.start(['logs', '--since', '10m']).ended
    expect([code, stdout]).toEqual([0, expect.stringContaining('still here')])
    expect(standIn.requests.filter((line) => line.includes('status=RUNNING'))).toHaveLength(1)
  })

  test('are followed by pas logs -f also where the log of an earlier one is gone', async () => {
    const gone = executionId.replace(/.$/, 'f')
    await using standIn = await service({
      'GET /events': (_, response) => void stream(response),
      'GET /executions': (_, response) =>
        json(response, page(running(executionId), { ...execution('ERROR'), id: gone })),
      [`GET /executions/${gone}/logs`]: (_, response) => json(response, { status: 404, title: 'Not found' }, 404),
      [events]: (_, response) => void stream(response, ['log', entry('still here')]),
    })
    const logs = standIn.start(['logs', '-f'])
    await expect.poll(() => logs.stdout).toContain('still here')
    expect(logs.stderr).toContain(`The log of ${gone} is not to be had`)
  })

  test('follow one another in pas logs -f where they are too many for it, which it says once', async () => {
    const ids = Array.from({ length: 10 }, (_, index) => executionId.replace(/.$/, index.toString(16)))
    let end = () => {}
    const streams = ids.map((id, index) => [
      `GET /executions/${id}/events`,
      (_: IncomingMessage, response: ServerResponse) => {
        const opened = stream(response, ['log', entry(`of ${index}`)])
        if (index === 0) end = () => opened.end('event: end\ndata: {"status":"FINISHED"}\n\n')
      },
    ])
    await using standIn = await service({
      'GET /events': (_, response) => stream(response, ['execution', running(ids[9]!)]),
      'GET /executions': (_, response) => json(response, page(...ids.slice(0, 9).map(running))),
      ...(Object.fromEntries(streams) as Answers),
    })
    const logs = standIn.start(['logs', '-f'])
    await expect
      .poll(() => [logs.stderr, logs.stdout])
      .toEqual([expect.stringMatching(/^More than 8 runs go on.*\n$/), expect.stringMatching(/of 7\b/)])
    expect(logs.stdout).not.toContain('of 8')
    end()
    await expect.poll(() => logs.stdout).toContain('of 8')
    expect([logs.stdout.includes('of 9'), logs.stderr.split('\n')]).toEqual([false, [expect.any(String), '']])
  })

  test('tell of a change that comes while pas executions list --watch reads the list', async () => {
    let change = () => {}
    await using standIn = await service({
      'GET /events': (_, response) => {
        stream(response)
        change = () => void response.write(`event: execution\ndata: ${JSON.stringify(execution('FINISHED'))}\n\n`)
      },
      'GET /executions': (_, response) => {
        const answer = () => {
          if (!standIn.requests.some((line) => line.includes('/events'))) return setTimeout(answer, 5)
          change()
          return json(response, page(execution('RUNNING')))
        }
        answer()
      },
    })
    const list = standIn.start(['executions', 'list', '--watch'])
    await expect.poll(() => list.stdout).toMatch(/RUNNING.*\n.*FINISHED/)
    expect((await standIn.start(['executions', 'list', '-w', '-q', 'words']).ended).code).toBe(2)
  })
})

test('a body is sent and signed as the bytes that it is, and options of one name are all sent', async () => {
  const body = Buffer.from([0xff, 0x00, 0xfe, 0x0a])
  const got: unknown[] = []
  const keep = async (request: IncomingMessage, response: ServerResponse) => {
    const { 'x-one': one, 'content-type': type, 'x-hub-signature-256': signature } = request.headers
    got.push({ url: request.url, one, type, signature, body: await buffer(request) })
    json(response, {})
  }
  await using standIn = await service({ 'POST /echo': keep, 'POST /api/demo/webhooks/hook': keep })
  await writeFile(join(standIn.folder, 'body.bin'), body)
  const twice = ['-q', 'a=1', '-q', 'a=2', '-H', 'X-One: 1', '-H', 'x-one: 2']
  expect((await standIn.start(['api', 'POST', '/echo', '-d', '@body.bin', ...twice]).ended).code).toBe(0)
  const sent = standIn.start(['webhooks', 'send', 'hook', '-d', '@body.bin', '--sign-with', 'HOOK'], { HOOK: 'key' })
  expect((await sent.ended).code).toBe(0)
  const signature = `sha256=${createHmac('sha256', 'key').update(body).digest('hex')}`
  expect(got).toEqual([
    { url: `${base}/echo?a=1&a=2`, one: '1, 2', type: 'application/json', body },
    { url: '/api/demo/webhooks/hook', type: 'application/octet-stream', signature, body },
  ])
})

test.each<[string[], string, string]>([
  [['schedules', 'delete'], 'DELETE /schedules/', 'deleted'],
  [['storage', 'rm'], 'DELETE /storage/objects/', 'deleted'],
  [['executions', 'kill'], 'PUT /executions/', 'killed'],
  [['sandbox', 'kill'], 'POST /sandboxes/', 'killed'],
])('%j of several does what it can, and tells what that was', async (command, call, member) => {
  const done = (_: IncomingMessage, response: ServerResponse) => json(response, {})
  const path = (id: string) => `${call}${id}${member === 'killed' ? '/kill' : ''}`
  await using standIn = await service({ [path('a')]: done, [path('c')]: done })
  const words = await standIn.start([...command, 'a', 'b', 'c', '--yes']).ended
  expect(words).toMatchObject({ code: 1, stderr: expect.stringMatching(/: a, c\.?\nerror: b: No /) as string })
  const { code, stdout } = await standIn.start([...command, 'a', 'b', 'c', '--yes', '--json']).ended
  const rows = JSON.parse(stdout) as Record<string, unknown>[]
  expect([code, rows.map((row) => row[member])]).toEqual([1, [true, false, true]])
})

test.each([
  [['storage', 'cp', 'nope.txt', 'team:x']],
  [['storage', 'cp', '-r', 'nope.txt', 'team:x/']],
  [['sandbox', 'cp', 'nope.txt', 'sb-1:x']],
  [['webhooks', 'send', 'hook', '-F', 'file=@nope.txt']],
  [['api', 'POST', '/echo', '-d', '@nope.txt']],
])('a file that is not there is a fault of the command line: %j', async (command) => {
  await using standIn = await service({
    'GET /sandboxes/sb-1': (_, response) => json(response, { id: 'sb-1', status: 'RUNNING' }),
  })
  const { code, stderr } = await standIn.start(command).ended
  expect([code, stderr]).toEqual([2, expect.stringContaining("nope.txt can't be read: ENOENT")])
})

test('pas api prints an answer that is no JSON, though it says so', async () => {
  await using standIn = await service({
    'GET /broken': (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('oh no'),
  })
  expect(await standIn.start(['api', 'GET', '/broken']).ended).toMatchObject({ code: 0, stdout: 'oh no\n' })
  expect(await standIn.start(['api', 'GET', '/broken', '--json']).ended).toMatchObject({ code: 0, stdout: '"oh no"\n' })
})

test('Ctrl-C in a download leaves no part of the file behind', async () => {
  await using standIn = await service({
    'GET /storage/objects/large.bin': (_, response) => response.writeHead(200, { 'content-length': '9' }).write('part'),
  })
  const copied = standIn.start(['storage', 'cp', 'team:large.bin', '.'])
  const files = async () => (await readdir(standIn.folder)).filter((name) => name.startsWith('large'))
  await expect.poll(files).toEqual([expect.stringContaining('large.bin.part')])
  copied.child.kill('SIGINT')
  expect((await copied.ended).code).toBe(130)
  expect(await files()).toEqual([])
})
