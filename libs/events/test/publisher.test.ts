import { ExecutionEventSchema, type ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { silentLogger } from '@automation/testing'
import { create } from '@bufbuild/protobuf'
import type { Kafka, ProducerRecord } from 'kafkajs'
import { expect, test } from 'vitest'
import { KafkaPublisher } from '../src/kafka/publisher.ts'

/** A broker in memory whose calls fail now and then, before or after the effect; it watches how it is called. */
class Broker {
  readonly partitions: string[][] = [[], [], [], []]
  readonly faults: string[] = []
  producers = 0
  calls = 0
  readonly #sending = new Set<number>()

  readonly kafka = {
    admin: () => ({
      connect: async () => undefined,
      disconnect: async () => undefined,
      fetchTopicMetadata: async () => ({
        topics: [{ partitions: this.partitions.map((_, partitionId) => ({ partitionId, leader: 1, replicas: [1] })) }],
      }),
    }),
    producer: (settings: object) => {
      this.producers += 1
      expect(settings).toMatchObject({ idempotent: true, maxInFlightRequests: 1 })
      let failed = false
      return {
        connect: async () => undefined,
        disconnect: async () => undefined,
        send: async (record: ProducerRecord) => {
          if (failed) this.faults.push('a producer that had failed is used again')
          try {
            await this.#send(record)
          } catch (error) {
            failed = true
            throw error
          }
        },
      }
    },
  } as unknown as Kafka

  async #send({ messages }: ProducerRecord): Promise<void> {
    const wanted = new Set(messages.map(({ partition }) => partition!))
    if (wanted.size !== 1) this.faults.push('a call spans partitions')
    const [partition = 0] = wanted
    if (this.#sending.has(partition)) this.faults.push('two calls to one partition')
    this.#sending.add(partition)
    const call = ++this.calls
    await new Promise(setImmediate)
    const stored = messages.map(({ headers }) => String(headers!['ce_id']))
    try {
      if (call % 7 === 3) throw new Error('lost on the way there')
      this.partitions[partition]!.push(...stored)
      if (call % 7 === 5) throw new Error('lost on the way back')
    } finally {
      this.#sending.delete(partition)
    }
  }
}

const config = { brokers: [], clientId: 'test', topic: 'test', partitions: 4 }

function eventsOf(executions: number): ExecutionEvent[] {
  const ids = Array.from({ length: executions }, (_, index) => `execution-${index}`)
  return [1, 2, 3].flatMap((sequence) =>
    ids.map((executionId) =>
      create(ExecutionEventSchema, { eventId: `${executionId}:${sequence}`, executionId, sequence, team: 'demo' }),
    ),
  )
}

test('whatever fails, each event is stored, in order for each execution, by calls of one partition one at a time', async () => {
  const broker = new Broker()
  const publisher = new KafkaPublisher({ kafka: async () => broker.kafka, config, logger: silentLogger })
  const events = eventsOf(40)
  for (let from = 0; from < events.length; from += 30)
    await publisher.publish(events.slice(from, from + 30), new AbortController().signal)
  expect(broker.faults).toEqual([])
  expect(broker.producers).toBeGreaterThan(2)
  const stored = broker.partitions.flatMap((partition) => [...new Set(partition)])
  expect(stored.toSorted()).toEqual(events.map(({ eventId }) => eventId).toSorted())
  for (const partition of broker.partitions) {
    const last = new Map<string, number>()
    for (const id of partition) {
      const [execution = '', sequence] = id.split(':')
      expect(Number(sequence)).toBeLessThanOrEqual((last.get(execution) ?? 0) + 1)
      last.set(execution, Math.max(last.get(execution) ?? 0, Number(sequence)))
    }
  }
  await publisher.close()
})

test('a publisher that is told to stop stops, though its broker never answers', async () => {
  const never = new Promise<Kafka>(() => undefined)
  const publisher = new KafkaPublisher({ kafka: () => never, config, logger: silentLogger })
  const stop = new AbortController()
  const publishing = publisher.publish(eventsOf(1), stop.signal)
  stop.abort(new Error('stopped'))
  await expect(publishing).rejects.toThrow('stopped')
  await publisher.close()
})
