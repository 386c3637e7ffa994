import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { openTracer } from '@automation/service'
import { silentLogger, traceReceiver, until, userContext } from '@automation/testing'
import { expect, test } from 'vitest'
import { brokers, kafka } from './kafka-for-tests.ts'
import { System } from './system.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const callersSpan = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${callersSpan}-01`

test.runIf(brokers.length > 0)(
  'each event on Kafka has the trace context of its run, in the trace of who started it, and none where there is no trace',
  { timeout: 60_000 },
  async () => {
    const receiver = await traceReceiver()
    const tracer = await openTracer({ endpoint: receiver.endpoint, service: 'execution', logger: silentLogger })
    const system = await System.start({ kafka: kafka() }, 1, tracer)
    await system.runner()
    const heard: ExecutionEvent[] = []
    system.replicas[0]!.part.events.subscribe('traces', async (events) => {
      heard.push(...events)
    })
    const traced = await system.executions.startExecution(
      { identifier: 'hello' },
      { ...userContext('demo'), traceparent },
    )
    const untraced = await system.start()
    const of = (id: string) => {
      const events = heard.filter(({ executionId }) => executionId === id)
      return new Map(events.map((event) => [event.eventId, event.traceparent]))
    }
    await until(() => of(traced.executionId).size === 3 && of(untraced).size === 3, { timeoutMs: 30_000 })
    await system.stop()
    await tracer.close()
    const run = receiver.spans.find(({ name }) => name === 'run')!
    expect(run).toMatchObject({ traceId, parentSpanId: callersSpan })
    expect(new Set(of(traced.executionId).values())).toEqual(new Set([`00-${traceId}-${run.spanId}-01`]))
    expect(new Set(of(untraced).values())).toEqual(new Set([undefined]))
    await receiver.close()
  },
)
