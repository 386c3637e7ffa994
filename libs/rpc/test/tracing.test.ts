import { Failure } from '@automation/errors'
import { traceReceiver, type ReceivedSpan } from '@automation/testing'
import { openTracer } from '@automation/service'
import { afterEach, describe, expect, test } from 'vitest'
import { call, handlers, shapes, type ProbeHandlers } from './shapes.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${spanId}-01`
const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

describe.each(shapes)('spans of calls, %s', (name, open) => {
  async function opened(given: Partial<ProbeHandlers>) {
    const receiver = await traceReceiver()
    ends.push(() => receiver.close())
    const tracer = await openTracer({
      endpoint: receiver.endpoint,
      service: 'probe',
      logger: { warn: () => undefined },
    })
    const shape = await open(handlers(given), tracer)
    ends.push(() => shape.stop())
    const sent = async () => {
      await tracer.close()
      return receiver.spans.toSorted((one, two) => one.startMs - two.startMs)
    }
    return { probe: shape.probe, sent }
  }

  /** The contexts of spans, each with that of its parent. */
  const line = (spans: ReceivedSpan[]) => spans.map((span) => [span.parentSpanId, span.spanId])

  test('continue the trace of the caller, down to what the handler does', async () => {
    let seen: string | undefined
    const { probe, sent } = await opened({ ask: (_request, context) => ((seen = context.traceparent), {}) })
    await probe.ask({}, call({ traceparent }))
    const spans = await sent()
    expect(spans).toHaveLength(name === 'in process' ? 1 : 2)
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]))
    expect(line(spans).flatMap(([parent]) => parent)).toEqual([
      spanId,
      ...spans.slice(0, -1).map((span) => span.spanId),
    ])
    expect(seen).toBe(`00-${traceId}-${spans.at(-1)!.spanId}-01`)
    for (const span of spans) {
      expect(span).toMatchObject({
        service: 'probe',
        name: expect.stringMatching(/ProbeService\/Ask$/),
        isError: false,
      })
      expect(span.attributes).toMatchObject({ 'rpc.system': 'grpc', 'rpc.method': 'Ask', 'automation.team': 'demo' })
    }
  })

  test('tell the code of a failure, as an error only where the caller is not at fault', async () => {
    const { probe, sent } = await opened({
      ask: () => Promise.reject(new Failure('not_found', 'thing_not_found', 'secret words')),
      look: () => Promise.reject(new Failure('internal', 'internal_error', 'secret words')),
    })
    await expect(probe.ask({}, call({ traceparent }))).rejects.toMatchObject({ code: 'thing_not_found' })
    await expect(probe.look({}, call({ traceparent }))).rejects.toMatchObject({ code: 'internal_error' })
    const spans = await sent()
    expect(new Set(spans.map((span) => `${span.attributes['error.type']} ${span.isError}`))).toEqual(
      new Set(['thing_not_found false', 'internal_error true']),
    )
    expect(JSON.stringify(spans)).not.toContain('secret words')
  })

  test('last as long as a stream is read', async () => {
    const { probe, sent } = await opened({
      async *count() {
        yield { number: 1 }
        yield { number: 2 }
      },
    })
    expect(await Array.fromAsync(probe.count({}, call({ traceparent })))).toHaveLength(2)
    expect((await sent()).map((span) => span.name)).toEqual(
      Array(name === 'in process' ? 1 : 2).fill(expect.stringMatching(/Count$/)),
    )
  })

  test('are none where nobody began a trace, or the caller wants none', async () => {
    const { probe, sent } = await opened({})
    await probe.ask({}, call())
    await probe.ask({}, call({ traceparent: `00-${traceId}-${spanId}-00` }))
    expect(await sent()).toEqual([])
  })
})
