import { afterEach, expect, test, vi } from 'vitest'
import { Client, type RunError } from '@automation/client'

const options = { url: 'http://pas.test', team: 'demo', token: 'eyJh.eyJl.c2ln' }

/** A service that answers of a run that has failed, with so many lines in its log, as lists count them. */
const answered = (lines: number) => (input: unknown) => {
  const { pathname, searchParams } = input as URL
  if (pathname.endsWith('/events')) return Response.json({ title: 'Too many streams' }, { status: 429 })
  if (!pathname.endsWith('/logs')) return Response.json({ id: 'x', status: 'ERROR', timeline: { events: [] } })
  const [page, limit] = [Number(searchParams.get('page')), Number(searchParams.get('limit'))]
  const numbers = Array.from({ length: Math.max(0, Math.min(limit, lines - page * limit)) }, (_, n) => page * limit + n)
  const data = numbers.map((number) => ({ message: String(number) }))
  return Response.json({ data, page, limit, total: Math.min(lines, 10_001), hasNextPage: (page + 1) * limit < lines })
}

test.each([0, 7, 20, 21, 60, 10_000, 10_002, 13_005])(
  'a run that fails shows the end of its log of %i lines',
  async (lines) => {
    const fetch = (input: unknown) => Promise.resolve(answered(lines)(input))
    const run = new Client({ ...options, fetch, maxRetries: 0 }).executions.run('x')
    const failure = await run.result().catch((error: unknown) => error as RunError)
    const first = Math.max(0, lines - 20)
    expect((failure as RunError).logTail).toEqual(Array.from({ length: lines - first }, (_, n) => String(first + n)))
  },
)

test.each([200, 429])(
  'what a run was started with stops its wait and kills it, also where a wait is given undefined; its stream answers %i',
  async (status) => {
    const stop = new AbortController()
    const kills: string[] = []
    const silent = (signal: AbortSignal) =>
      new ReadableStream({
        start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
      })
    const fetch = (input: unknown, init: RequestInit = {}) => {
      const { pathname } = input as URL
      if (pathname.endsWith('/kill')) kills.push(pathname)
      if (pathname.endsWith('/execute')) return Promise.resolve(Response.json({ executionId: 'x' }, { status: 202 }))
      if (status === 429 && pathname.endsWith('/events')) return Promise.resolve(Response.json({}, { status }))
      const isRecord = !pathname.endsWith('/events')
      const answer = isRecord ? Response.json({ status: 'RUNNING' }) : new Response(silent(init.signal!))
      stop.abort(new Error('enough'))
      return Promise.resolve(answer)
    }
    const pas = new Client({ ...options, fetch, maxRetries: 0 })
    const run = await pas.processes.run('x', {}, { signal: stop.signal, killOnAbort: true })
    await expect(run.result({ signal: undefined, killOnAbort: undefined })).rejects.toThrow('enough')
    expect(kills).toHaveLength(1)
  },
  5000,
)

afterEach(() => {
  vi.useRealTimers()
})

const calls: [string, (pas: Client) => Promise<unknown>, number, object?][] = [
  ['an answer', (pas) => pas.processes.get('x'), 60_000],
  ['a start', (pas) => pas.processes.execute('x', {}), 60_000],
  ['an answer that waits for a run', (pas) => pas.processes.executeSync('x', {}), 120_000],
  ['the answer of a webhook', (pas) => pas.webhooks.call('x'), 120_000],
  ['what the client says', (pas) => pas.webhooks.call('x'), 5000, { requestTimeoutMs: 5000 }],
  ['what the call says', (pas) => pas.processes.executeSync('x', {}, { requestTimeoutMs: 300_000 }), 300_000],
]

test.each(calls)('%s is waited for', async (_, call, limitMs, more) => {
  vi.useFakeTimers()
  const fetch = (_url: unknown, init?: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason as Error))
    })
  let ended: unknown
  const waits = call(new Client({ ...options, ...more, fetch, maxRetries: 0 })).catch(
    (error: unknown) => (ended = error),
  )
  await vi.advanceTimersByTimeAsync(limitMs - 1)
  expect(ended).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  await waits
  expect(ended).toMatchObject({ code: 'timeout' })
})
