import { connect, type Socket } from 'node:net'
import type { Connect, KafkaConfig } from '@automation/events'
import { eventBusConformance, until } from '@automation/testing'
import { Status } from '@automation/contract/execution/v1/execution'
import { describe, expect, test } from 'vitest'
import { openBus } from './bus-under-test.ts'
import { System } from './system.ts'

const brokers = process.env['KAFKA_BROKERS']?.split(',') ?? []
let topics = 0

/** A topic of its own. */
function kafka(): KafkaConfig {
  const topic = `test-${process.pid}-${Date.now()}-${++topics}`
  return { brokers, clientId: 'tests', topic, partitions: 3 }
}

/** Connections that can be cut, so that Kafka is away for one system only. */
class Line {
  readonly #sockets = new Set<Socket>()
  #cut: boolean

  constructor(cut: boolean) {
    this.#cut = cut
  }

  readonly connect: Connect = ({ host, port, onConnect }) => {
    // Port 1 answers nobody.
    const socket = connect(this.#cut ? { host: '127.0.0.1', port: 1 } : { host, port }, onConnect)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    return socket
  }

  cut(): void {
    this.#cut = true
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
    for (const socket of this.#sockets) socket.destroy(reset)
  }

  mend(): void {
    this.#cut = false
  }
}

describe.runIf(brokers.length > 0)('with Kafka', { timeout: 60_000 }, () => {
  eventBusConformance('the bus over Kafka', () => openBus(kafka()))

  test.each(['from the start', 'later'])(
    'runs are taken and finished while Kafka is away %s, and all events come once it is back',
    async (when) => {
      const line = new Line(when === 'from the start')
      const system = await System.start({ kafka: kafka(), kafkaConnect: line.connect, teamMaxRunning: 1000 })
      await system.runner({ places: 100 })
      const { part, metrics } = system.replicas[0]!
      const heard: string[] = []
      part.events.subscribe('after', async (events) => {
        heard.push(...events.map(({ eventId }) => eventId))
      })
      if (when === 'later') {
        const { executionId } = await system.run()
        await until(() => heard.includes(`${executionId}:3`), { timeoutMs: 20_000 })
        line.cut()
      }
      const outcomes = await Promise.all(Array.from({ length: 50 }, () => system.run()))
      expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => Status.FINISHED))
      const check = () => part.ready().then((checks) => checks.find(({ name }) => name === 'event bus')!)
      await until(async () => (await check()).detail?.includes('takes no events'), { timeoutMs: 15_000 })
      expect((await part.ready()).every(({ ok }) => ok)).toBe(true)
      await until(async () => /execution_event_backlog\{consumer="kafka"\} [1-9]/.test(await metrics.metrics()), {
        timeoutMs: 15_000,
      })
      line.mend()
      const all = outcomes.flatMap(({ executionId }) => [1, 2, 3].map((sequence) => `${executionId}:${sequence}`))
      await until(() => all.every((id) => heard.includes(id)), { timeoutMs: 30_000 })
      await until(async () => (await check()).detail === 'Kafka', { timeoutMs: 15_000 })
      await system.stop()
    },
  )
})

test('a Kafka that nobody answers for holds up no run, and the service stays ready', async () => {
  const nowhere = { brokers: ['127.0.0.1:1'], clientId: 'tests', topic: 'none', partitions: 1 }
  const system = await System.start({ kafka: nowhere })
  await system.runner()
  expect((await system.run()).status).toBe(Status.FINISHED)
  const checks = await system.replicas[0]!.part.ready()
  expect(checks.filter(({ ok }) => !ok)).toEqual([])
  await system.stop()
})
