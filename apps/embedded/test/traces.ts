import { listening } from '@automation/testing/listening'
import { until, type ReceivedSpan, type TraceReceiver } from '@automation/testing'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Values } from './started.ts'

/** A system that runs, and where it sends its spans. */
export interface Traced {
  values: Values
  receiver: TraceReceiver
}

// As OTLP numbers the kinds of spans.
const client = 3
const callersSpan = 'b7ad6b7169203331'
const traceOf = (last: string) => `0af7651916cd43dd8448eb211c8031${last}`

/** The tests of traces, for a system that has been started when they begin. */
export function testTraces(traced: () => Traced): void {
  let values: Values
  let receiver: TraceReceiver
  let headers: Record<string, string>

  beforeAll(async () => {
    ;({ values, receiver } = traced())
    const apiToken = (await readFile(join(values['DATA_DIR'] ?? '', 'bootstrap-token'), 'utf8')).trim()
    const exchanged = await fetch(rest('/auth/token'), { method: 'POST', headers: { 'x-api-token': apiToken } })
    const { access_token: accessToken } = (await exchanged.json()) as { access_token: string }
    headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' }
  })

  const rest = (path: string) => `http://localhost:${values['PORT']}/api/demo/rest${path}`

  async function make(name: string, programmingLanguage: string, sourceCode: string): Promise<void> {
    const made = await fetch(rest('/processes'), {
      method: 'POST',
      headers,
      body: JSON.stringify({ name, programmingLanguage, sourceCode, webhook: { enabled: true } }),
    })
    expect(made.status, await made.text()).toBe(201)
  }

  /** What a webhook of a process answers to a call of this trace. */
  async function called(name: string, trace: string): Promise<unknown> {
    const traceparent = `00-${trace}-${callersSpan}-01`
    const answer = await fetch(`http://localhost:${values['PORT']}/api/demo/webhooks/${name}`, {
      method: 'POST',
      headers: { traceparent, 'content-type': 'application/json' },
      body: '{"secret":"not to be told"}',
    })
    return answer.json()
  }

  /** The spans of a trace, once those of so many runs are there and none lacks its parent, nor a call its other side. */
  function spansOf(trace: string, runs: number): Promise<ReceivedSpan[]> {
    const whole = () => {
      const spans = receiver.spans.filter(({ traceId }) => traceId === trace)
      const amount = (name: string) => spans.filter((span) => span.name === name).length
      const parents = new Set(spans.map(({ parentSpanId }) => parentSpanId))
      const known = new Set(['', callersSpan, ...spans.map(({ spanId }) => spanId)])
      const isClosed =
        [...parents].every((id) => known.has(id)) &&
        spans.every(({ kind, name, spanId }) => kind !== client || !name.includes('/') || parents.has(spanId))
      return amount('run') === runs && amount('code') === runs && isClosed ? spans : undefined
    }
    return until(whole, { timeoutMs: 15_000, what: `the spans of ${trace}` })
  }

  test('one trace leads from a request through the services to the code of a run, and on to the runs that it starts', async () => {
    await make('inner', 'JAVASCRIPT', 'return process.env.TRACEPARENT')
    const source = 'return { own: process.env.TRACEPARENT, inner: await svc.processes.runSync("inner") }'
    await make('outer', 'JAVASCRIPT', source)
    const trace = traceOf('91')
    const answer = (await called('outer', trace)) as { own: string; inner: string }
    const spans = await spansOf(trace, 2)
    const runs = spans.filter(({ name }) => name === 'run').toSorted((one, two) => one.startMs - two.startMs)
    const [outer, inner] = runs as [ReceivedSpan, ReceivedSpan]
    expect(answer).toEqual({ own: `00-${trace}-${outer.spanId}-01`, inner: `00-${trace}-${inner.spanId}-01` })
    const way = ['execution: run', 'execution: ExecutionService/RunExecution', 'gateway: ExecutionService/RunExecution']
    expect(line(outer, spans).slice(0, 3)).toEqual(way)
    expect(line(outer, spans).slice(3)).toEqual([expect.stringMatching(/^gateway: POST /)])
    expect(line(inner, spans)).toEqual([
      'execution: run',
      'execution: RunService/RunProcess',
      'runner: RunService/RunProcess',
      ...line(outer, spans),
    ])
    for (const code of spans.filter(({ name }) => name === 'code'))
      expect(runs.map(({ spanId }) => spanId)).toContain(code.parentSpanId)
    expect(spans.some(({ service, name }) => service === 'process-catalog' && name.endsWith('/ResolveRun'))).toBe(true)
    expect(spans.filter((span) => span.parentSpanId === callersSpan).map(({ service }) => service)).toEqual(['gateway'])
    expect(JSON.stringify(spans)).not.toContain('not to be told')
  })

  test('Python sees its trace context, too, and a failed run is told as one', async () => {
    await make('python', 'PYTHON', 'import os\nreturn {"own": os.environ["TRACEPARENT"]}')
    await make('failing', 'JAVASCRIPT', 'throw new Error("not to be told")')
    const answer = await called('python', traceOf('92'))
    const [run] = (await spansOf(traceOf('92'), 1)).filter(({ name }) => name === 'run')
    expect(answer).toEqual({ own: `00-${traceOf('92')}-${run?.spanId}-01` })
    expect(run).toMatchObject({ isError: false, attributes: { 'automation.execution.status': 'FINISHED' } })
    await called('failing', traceOf('93'))
    const spans = await spansOf(traceOf('93'), 1)
    const [failed] = spans.filter(({ name }) => name === 'run')
    expect(failed).toMatchObject({ isError: true, attributes: { 'automation.execution.status': 'ERROR' } })
    expect(JSON.stringify(spans)).not.toContain('not to be told')
  })

  test('a schedule begins the trace of its run, and the callback of its end goes on with it', async () => {
    await make('scheduled', 'JAVASCRIPT', 'return process.env.TRACEPARENT')
    const received = Promise.withResolvers<string | undefined>()
    const server = createServer((request, response) => {
      received.resolve(request.headers['traceparent'] as string | undefined)
      response.end()
    })
    const { url: callbackUrl, close } = await listening(server)
    const dateTime = new Date(Date.now() + 1500).toISOString()
    const scheduled = await fetch(rest('/processes/scheduled/schedule'), {
      method: 'POST',
      headers,
      body: JSON.stringify({ dateTime, input: { settings: { callbackUrl } } }),
    })
    expect(scheduled.ok, await scheduled.text()).toBe(true)
    const [, trace = ''] = (await received.promise)?.split('-') ?? []
    await until(() => receiver.spans.some(({ traceId, name }) => traceId === trace && name === 'callback'))
    const spans = await spansOf(trace, 1)
    const callback = spans.find(({ name }) => name === 'callback')!
    expect(await received.promise).toBe(`00-${trace}-${callback.spanId}-01`)
    const firing = ['execution: FiringService/StartFiring', 'scheduler: FiringService/StartFiring', 'scheduler: firing']
    expect(line(callback, spans)).toEqual(['execution: callback', 'execution: run', ...firing])
    await close()
  })
}

/** Names from a span up to what the caller gave. */
function line(span: ReceivedSpan, spans: ReceivedSpan[]): string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
  return [`${span.service}: ${span.name.split('.').at(-1)}`, ...(parent === undefined ? [] : line(parent, spans))]
}
