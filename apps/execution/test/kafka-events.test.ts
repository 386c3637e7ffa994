import { eventBusConformance, until } from '@automation/testing'
import { Status } from '@automation/contract/execution/v1/execution'
import { describe, expect, test } from 'vitest'
import { openBus } from './bus-under-test.ts'
import { brokers, kafka, Line } from './kafka-for-tests.ts'
import { System } from './system.ts'

describe.runIf(brokers.length > 0)('with Kafka', { timeout: 60_000 }, () => {
  eventBusConformance('the bus over Kafka', () => openBus(kafka()))

  test.each(['from the start', 'later'])(
    'runs are taken and finished while Kafka is away %s, and all events come once it is back',
    async (when) => {
      const line = new Line(when === 'from the start')
      const system = await System.start({ kafka: kafka(), kafkaConnect: line.connect, teamMaxRunning: 1000 })
      await system.runner({ slots: 100 })
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
