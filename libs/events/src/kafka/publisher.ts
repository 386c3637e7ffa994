import { createHash } from 'node:crypto'
import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { abortable, atMost, pause, type Logger } from '@automation/service'
import type { Kafka, Producer } from 'kafkajs'
import { retry } from './kafka-client.ts'
import type { KafkaConfig } from './kafka-config.ts'
import { messageOf, type KafkaMessage } from './kafka-message.ts'
import { ensureTopic } from './topic.ts'

interface Connected {
  producer: Producer
  partitions: number
}

interface PublisherOptions {
  kafka: () => Promise<Kafka>
  config: KafkaConfig
  logger: Logger
}

const chunk = { messages: 1000, bytes: 512 * 1024 }
const longestPauseMs = 5000
const complainMs = 5000

/**
 * Sends events in the one way that loses nothing with this client: a call holds messages of one partition, each
 * partition has one call on its way, partitions go side by side; after any failure a new producer sends again what was
 * not acknowledged. So a message may come twice, but those of an execution come in order.
 */
export class KafkaPublisher {
  readonly #options: PublisherOptions
  #connected: Promise<Connected> | undefined
  #waitingSince: Date | undefined

  constructor(options: PublisherOptions) {
    this.#options = options
  }

  /** Since when Kafka takes nothing that is offered; undefined while all is well. */
  get stuckSince(): Date | undefined {
    const since = this.#waitingSince
    return since !== undefined && Date.now() - since.getTime() > complainMs ? since : undefined
  }

  /** Returns when the in-sync replicas have all of these; tries until `signal` is aborted, and throws then. */
  async publish(events: ExecutionEvent[], signal: AbortSignal): Promise<void> {
    const { logger } = this.#options
    const acknowledged = new Set<ExecutionEvent>()
    this.#waitingSince = new Date()
    const complaint = setTimeout(() => logger.warn('Kafka takes no events; they wait in the outbox'), complainMs)
    try {
      for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
        try {
          await abortable(this.#send(events, acknowledged), signal)
          break
        } catch (error) {
          await this.#discard()
          signal.throwIfAborted()
          logger.warn({ err: error }, 'events could not be sent to Kafka, trying again with a new producer')
          await pause(pauseMs, signal)
        }
      }
      if (this.stuckSince !== undefined) logger.info('Kafka takes events again')
    } finally {
      clearTimeout(complaint)
      this.#waitingSince = undefined
    }
  }

  close(): Promise<void> {
    return this.#discard()
  }

  async #send(events: ExecutionEvent[], acknowledged: Set<ExecutionEvent>): Promise<void> {
    const { producer, partitions } = await (this.#connected ??= this.#connect())
    const rest = events.filter((event) => !acknowledged.has(event))
    const byPartition = Map.groupBy(rest, ({ executionId }) => partitionOf(executionId, partitions))
    const { topic } = this.#options.config
    let failed = false
    const sendPartition = async (partition: number, batch: ExecutionEvent[]) => {
      for (const part of chunks(batch)) {
        // After a failure nothing more is begun with this producer.
        if (failed) return
        const messages = part.map(({ message }) => ({ ...message, partition }))
        await producer.send({ topic, acks: -1, messages })
        for (const { event } of part) acknowledged.add(event)
      }
    }
    const sent = await Promise.allSettled(
      [...byPartition].map(([partition, batch]) =>
        sendPartition(partition, batch).catch((error: unknown) => {
          failed = true
          throw error
        }),
      ),
    )
    for (const result of sent) if (result.status === 'rejected') throw result.reason
  }

  async #connect(): Promise<Connected> {
    const { config, logger } = this.#options
    const kafka = await this.#options.kafka()
    const partitions = await ensureTopic(kafka, config, logger)
    const producer = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      retry,
      allowAutoTopicCreation: false,
      // Each message names its partition.
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition!,
    })
    await producer.connect()
    return { producer, partitions }
  }

  async #discard(): Promise<void> {
    const connected = this.#connected
    this.#connected = undefined
    // One that is not connected yet, or sends into the void, is left behind.
    if (connected !== undefined)
      await atMost(
        1000,
        connected.then(({ producer }) => producer.disconnect()),
      )
  }
}

interface Item {
  event: ExecutionEvent
  message: KafkaMessage
}

/** Parts that a broker takes in one call. */
function* chunks(events: ExecutionEvent[]): Iterable<Item[]> {
  let part: Item[] = []
  let bytes = 0
  for (const event of events) {
    const message = messageOf(event)
    const size = message.value.length + 512
    if (part.length >= chunk.messages || (part.length > 0 && bytes + size > chunk.bytes)) {
      yield part
      part = []
      bytes = 0
    }
    part.push({ event, message })
    bytes += size
  }
  if (part.length > 0) yield part
}

/** The partition of an execution's events: spread evenly, the same for the same number of partitions. */
export function partitionOf(executionId: string, partitions: number): number {
  return createHash('sha1').update(executionId).digest().readUInt32BE() % partitions
}
