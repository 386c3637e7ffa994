import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Client, RunError, RunEvent } from '@automation/client'
import { CuttingProxy } from './cutting-proxy.ts'
import { client, clientAt, system, unique } from './installed.ts'

const direct = clientAt()
const counter = unique('counter')
let proxy: CuttingProxy
let pas: Client

beforeAll(async () => {
  proxy = await CuttingProxy.before(system.host)
  pas = clientAt(proxy.url)
  await direct.processes.create({
    name: counter,
    sourceCode: `const { lines = 0, everyMs = 0 } = svc.context.parameters
      for (let n = 0; n < lines; n += 1) {
        console.log(String(n))
        if (everyMs) await new Promise((done) => setTimeout(done, everyMs))
      }
      return lines`,
  })
})
afterAll(() => proxy[Symbol.asyncDispose]())

const executionsOf = async (process: string) => {
  const { id } = await direct.processes.get(process)
  return (await direct.executions.list({ processId: id }).page()).total
}

describe('a team with as many live streams as it may have', () => {
  const noStream = { status: 429, headers: { 'Retry-After': '61' } }

  test('still gives the value of a run, or its reason with the end of its log', async () => {
    const run = await pas.processes.run(counter, { lines: 25, everyMs: 20 })
    proxy.next(new RegExp(`GET .*/${run.id}/events`), noStream)
    expect(await run.result()).toBe(25)
    const sourceCode = "for (let n = 0; n < 45; n += 1) console.log(n); throw new Error('no')"
    const failing = await pas.processes.runDraft({ sourceCode, programmingLanguage: 'JAVASCRIPT' })
    proxy.next(new RegExp(`GET .*/${failing.id}/events`), noStream)
    const failure = await failing.result().catch((error: unknown) => error)
    const followed = await pas.executions
      .run(failing.id)
      .result()
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(client.RunError)
    expect((failure as RunError).logTail).toHaveLength(20)
    expect((failure as RunError).logTail).toEqual((followed as RunError).logTail)
    expect(proxy.count(new RegExp(`/${failing.id}/events`))).toBe(2)
  })

  test('kills the run of a waiter who leaves and wanted that', async () => {
    const stop = new AbortController()
    const endless = { lines: 1000, everyMs: 100 }
    const run = await pas.processes.run(counter, endless, { signal: stop.signal, killOnAbort: true })
    proxy.next(new RegExp(`GET .*/${run.id}/events`), noStream)
    const ended = run.result().catch((error: unknown) => error)
    await expect.poll(() => proxy.count(new RegExp(`GET .*/${run.id}$`))).toBeGreaterThan(0)
    stop.abort(new Error('enough'))
    expect(await ended).toEqual(new Error('enough'))
    expect((await direct.executions.run(run.id).wait()).status).toBe('KILLED')
  })
})

describe('what is repeated', () => {
  test('a start whose answer was lost runs once', async () => {
    const name = (await direct.processes.create({ name: unique(), sourceCode: 'return 1' })).slug
    proxy.next(/POST .*\/execute$/, { loseAnswer: true })
    proxy.next(/POST .*\/execute$/, { loseAnswer: true })
    const run = await pas.processes.run(name)
    expect(await run.result()).toBe(1)
    expect(proxy.count(new RegExp(`POST .*/${name}/execute$`))).toBe(3)
    expect(await executionsOf(name)).toBe(1)
  })

  test('a webhook with files whose answer was lost runs once', async () => {
    const sourceCode = 'return svc.context.parameters.file.size'
    const { slug } = await direct.processes.create({ name: unique(), sourceCode, webhook: { enabled: true } })
    const body = new FormData()
    body.set('file', new File(['text'], 'a.txt'))
    proxy.next(/POST .*\/webhooks\//, { loseAnswer: true })
    expect(await (await pas.webhooks.call(slug, { body })).json()).toBe(4)
    expect(proxy.count(/POST .*\/webhooks\//)).toBe(2)
    expect(await executionsOf(slug)).toBe(1)
  })

  test('no more often than asked for', async () => {
    const once = clientAt(proxy.url, { maxRetries: 0 })
    proxy.next(/GET .*\/team$/, { loseAnswer: true })
    await expect(once.team.get()).rejects.toThrow(client.ConnectionError)
    for (let n = 0; n < 3; n += 1) proxy.next(/GET .*\/limits$/, { status: 503 })
    await expect(pas.team.limits()).rejects.toMatchObject({ name: 'UnavailableError', status: 503 })
    expect(proxy.count(/GET .*\/limits$/)).toBe(3)
  })

  test('a read whose answer is cut, and one that is refused for some time, as long as that takes', async () => {
    await direct.variables.create({ key: unique('CUT').replaceAll('-', '_'), value: 'x'.repeat(5000) })
    proxy.next(/GET .*\/variables\?/, { cutAnswerAfter: 1000 })
    expect((await pas.variables.list().page()).data.length).toBeGreaterThan(0)
    proxy.next(/GET .*\/teams$/, { status: 429, headers: { 'Retry-After': '1' } })
    const asked = performance.now()
    expect(await pas.team.list()).toHaveLength(1)
    expect(performance.now() - asked).toBeGreaterThan(990)
  })

  test('a deletion, a pause and a resumption whose answers were lost are done, not refused', async () => {
    const { id: process } = await direct.processes.create({ name: unique(), sourceCode: 'return 1' })
    const { id } = await direct.schedules.create(process, { cron: '0 8 * * *' })
    const lose = (fits: RegExp) => proxy.next(fits, { loseAnswer: true })
    lose(/PUT .*\/pause$/)
    await pas.schedules.pause(id)
    lose(/PUT .*\/resume$/)
    await pas.schedules.resume(id)
    lose(/DELETE .*\/schedules\//)
    await pas.schedules.delete(id)
    expect(proxy.count(new RegExp(`(PUT|DELETE) .*/${id}`))).toBe(6)
    await expect(direct.schedules.get(id)).rejects.toMatchObject({ code: 'schedule_not_found' })
    // Known to have done nothing at first.
    proxy.next(/DELETE .*\/schedules\//, { status: 429, headers: { 'Retry-After': '0' } })
    await expect(pas.schedules.delete(id)).rejects.toMatchObject({ code: 'schedule_not_found' })
    lose(/DELETE .*\/nowhere$/)
    await expect(pas.open('DELETE', '/nowhere')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('nothing that could be done twice: writes without a key, and a wait that the service gave up', async () => {
    const name = unique()
    proxy.next(/POST .*\/processes$/, { loseAnswer: true })
    await expect(pas.processes.create({ name, sourceCode: 'return 1' })).rejects.toThrow(client.ConnectionError)
    expect(await direct.processes.get(name)).toMatchObject({ name })
    proxy.next(/PATCH /, { status: 503 })
    await expect(pas.processes.update(name, { description: 'x' })).rejects.toMatchObject({ status: 503 })
    const problem = { status: 408, code: 'execution_timeout', detail: 'It runs on', executionId: 'x' }
    proxy.next(/execute-sync$/, { status: 408, body: problem })
    await expect(pas.processes.executeSync(name, {})).rejects.toMatchObject({
      ...{ name: 'RequestTimeoutError', code: 'execution_timeout', executionId: 'x' },
    })
    expect(proxy.count(/execute-sync$/)).toBe(1)
  })

  test('a service that is silent is given up, in words that say where and why', async () => {
    const impatient = clientAt(proxy.url, { requestTimeoutMs: 100, maxRetries: 0 })
    const call = impatient.processes.executeSync(counter, { parameters: { lines: 2, everyMs: 1000 } })
    await expect(call).rejects.toMatchObject({ name: 'ConnectionError', code: 'timeout' })
    await expect(call).rejects.toThrow(/POST .*execute-sync: no answer within 100 ms/)
    const closed = await CuttingProxy.before(system.host)
    const { url } = closed
    await closed[Symbol.asyncDispose]()
    await expect(clientAt(url, { maxRetries: 0 }).team.get()).rejects.toThrow(/not reached: .*ECONNREFUSED/)
  })
})

test('a redirect is told and not followed, so that no token goes elsewhere; that of a webhook is its answer', async () => {
  await using elsewhere = await CuttingProxy.before(system.host)
  const order = { status: 307, headers: { Location: `${elsewhere.url}/there` } }
  const redirected = clientAt(proxy.url)
  for (const address of [/POST .*\/auth\/token$/, /POST \/run$/, /GET .*\/webhooks\//]) proxy.next(address, order)
  await expect(redirected.team.get()).rejects.toMatchObject({
    ...{ name: 'ApiError', status: 307, code: 'redirected', message: expect.stringContaining(order.headers.Location) },
  })
  await expect(redirected.sources.run('return 1')).rejects.toMatchObject({ code: 'redirected' })
  const answer = await redirected.webhooks.call(counter)
  expect([answer.status, answer.headers.get('Location')]).toEqual([307, order.headers.Location])
  expect(elsewhere.requests).toEqual([])
})

describe('what goes on after a cut', () => {
  test('a live log, without a gap and without a line twice', async () => {
    const run = await pas.processes.run(counter, { lines: 30, everyMs: 40 })
    const events: RunEvent[] = []
    for await (const event of run.events()) {
      events.push(event)
      if (event.event === 'log' && Number(event.data.message) % 10 === 5) proxy.cut()
    }
    const lines = events.flatMap((event) => (event.event === 'log' ? [event.data.message] : []))
    expect(lines).toEqual(Array.from({ length: 30 }, (_, n) => String(n)))
    expect(events.at(-1)).toMatchObject({ event: 'end', data: { status: 'FINISHED' } })
    expect(proxy.count(new RegExp(`GET .*/${run.id}/events`))).toBeGreaterThan(1)
    expect(await run.result()).toBe(30)
  })

  test('a stream that brings comments alone, however often it is cut', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let openings = 0
    const quiet = clientAt('http://pas.test', {
      token: 'eyJh.eyJl.c2ln',
      fetch: () => {
        openings += 1
        return Promise.resolve(new Response(openings < 40 ? ': nothing yet\n\n' : 'event: end\ndata: {}\n\n'))
      },
    })
    let isOver = false
    const events = Array.fromAsync(quiet.events('/events')).finally(() => (isOver = true))
    while (!isOver) await Promise.race([events, vi.advanceTimersByTimeAsync(8000)])
    expect((await events).map(({ event }) => event)).toEqual(['end'])
  })

  test("the team's stream, until its reader leaves", async () => {
    const stop = new AbortController()
    const { id, slug } = await direct.processes.create({ name: unique(), sourceCode: 'return 1' })
    const seen = new Set<string>()
    const openings = () => proxy.count(/GET .*rest\/events/)
    const stream = pas.team.events({ types: ['execution'], processId: id }, { signal: stop.signal })
    const reading = (async () => {
      for await (const { data } of stream) {
        if (seen.size === 0) proxy.cut()
        seen.add(String(data['id']))
        // A run has several events, also behind the cut.
        if (openings() > 1 && seen.size > 1) stop.abort(new Error('enough'))
      }
    })()
    const ended = reading.catch((error: unknown) => error)
    // What happens before the stream is open is not told: runs are started until one is after the cut.
    const started: string[] = []
    const start = async () => {
      started.push((await direct.processes.run(slug)).id)
      return stop.signal.aborted
    }
    await expect.poll(start, { interval: 200, timeout: 30_000 }).toBe(true)
    expect(await ended).toEqual(new Error('enough'))
    expect(started).toEqual(expect.arrayContaining([...seen]))
    expect(seen.size).toBeGreaterThan(1)
  })

  test('an upload in parts, with the part that was cut alone; and its download, with the bytes that are missing', async () => {
    const content = randomBytes(17 * 1024 * 1024)
    const name = `${unique()}/a b.bin`
    proxy.next(/PUT .*\/parts\/1$/, { cutRequestAfter: 1_000_000 })
    proxy.next(/PUT .*\/parts\/2$/, { loseAnswer: true })
    proxy.next(/POST .*\/complete$/, { loseAnswer: true })
    const sent: number[] = []
    await pas.storage.upload(name, streamOf(content), { onProgress: ({ sentBytes }) => sent.push(sentBytes) })
    expect(sent).toEqual([16 * 1024 * 1024, content.length])
    expect(proxy.count(/PUT .*\/parts\//)).toBe(4)

    proxy.next(/GET .*\/storage\/objects\//, { cutAnswerAfter: 5_000_000 })
    proxy.next(/GET .*\/storage\/objects\//, { cutAnswerAfter: 7_000_000 })
    const downloaded = await (await pas.storage.download(name)).arrayBuffer()
    expect(digest(new Uint8Array(downloaded))).toBe(digest(content))
    expect(proxy.count(/GET .*\/storage\/objects\//)).toBe(3)
  })

  test('an upload that was given up, by its id, without the parts that are there', async () => {
    const content = randomBytes(33 * 1024 * 1024)
    const name = unique()
    const stop = new AbortController()
    let uploadId: string | undefined
    const begun = pas.storage.upload(name, streamOf(content), {
      signal: stop.signal,
      onProgress: (progress) => {
        uploadId = progress.uploadId
        if (progress.sentBytes === 16 * 1024 * 1024) stop.abort(new Error('enough'))
      },
    })
    await expect(begun).rejects.toThrow('enough')
    const before = proxy.count(/PUT .*\/parts\//)
    await pas.storage.upload(name, new Blob([content]), { uploadId })
    expect(proxy.count(/PUT .*\/parts\//) - before).toBe(2)
    const downloaded = await (await pas.storage.download(name)).arrayBuffer()
    expect(digest(new Uint8Array(downloaded))).toBe(digest(content))
  })

  describe('an upload that was given up', () => {
    /** Its id; these parts of it have come. */
    async function givenUp(name: string, ...parts: Buffer[]): Promise<string> {
      const { id } = await pas.storage.uploads.create({ name })
      for (const [index, part] of parts.entries()) await pas.storage.uploads.put(id, index + 1, part)
      return id
    }

    test('stores what it is given when it goes on, also where that has changed since', async () => {
      const content = randomBytes(1000)
      const name = unique()
      const uploadId = await givenUp(name, content)
      const changed = content.with(7, content[7]! ^ 1)
      await pas.storage.upload(name, changed, { uploadId })
      const stored = await (await pas.storage.download(name)).arrayBuffer()
      expect(digest(new Uint8Array(stored))).toBe(digest(changed))
    })

    test('stores nothing under another name, nor with the end of other data', async () => {
      const content = randomBytes(1000)
      const name = unique()
      const uploadId = await givenUp(name, content, content)
      await expect(pas.storage.upload(unique(), content, { uploadId })).rejects.toThrow(`one of ${name}`)
      await expect(pas.storage.upload(name, content, { uploadId })).rejects.toThrow('behind the end')
      await expect(pas.storage.download(name)).rejects.toBeInstanceOf(client.NotFoundError)
      await pas.storage.uploads.delete(uploadId)
    })
  })
})

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function* streamOf(content: Buffer): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < content.length; from += 100_000)
    yield await Promise.resolve(content.subarray(from, from + 100_000))
}
