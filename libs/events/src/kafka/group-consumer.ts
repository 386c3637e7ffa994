import { abortable, atMost, pause, type Logger } from '@automation/service'
import type { EachBatchPayload, Kafka, KafkaMessage as Message } from 'kafkajs'
import type { EventHandler } from '../event-bus.ts'
import { retry } from './kafka-client.ts'
import type { KafkaConfig } from './kafka-config.ts'
import { eventOf } from './kafka-message.ts'
import { ensureTopic } from './topic.ts'

interface GroupConsumerOptions {
  kafka: () => Promise<Kafka>
  config: KafkaConfig
  groupId: string
  handle: EventHandler
  logger: Logger
}

/** The most events for one call of a handler. */
const batchSize = 500
const longestPauseMs = 5000

/**
 * A member of a consumer group. Offsets are committed after the effect. A handler that fails gets the same events
 * again; a consumer that crashes is replaced: neither ends the subscription.
 */
export class GroupConsumer {
  readonly #options: GroupConsumerOptions
  readonly #logger: Logger
  readonly #stop = new AbortController()
  readonly #loop: Promise<void>

  constructor(options: GroupConsumerOptions) {
    this.#options = options
    this.#logger = options.logger.child({ group: options.groupId })
    this.#loop = this.#run()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#loop
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    for (let pauseMs = 100; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const startedAt = performance.now()
      try {
        await this.#consume(signal)
      } catch (error) {
        if (signal.aborted) return
        this.#logger.warn({ err: error }, 'the consumer of events ended, starting another one')
      }
      if (performance.now() - startedAt > 60_000) pauseMs = 100
      await pause(pauseMs, signal)
    }
  }

  /** Throws what ended it; returns once the signal is aborted. */
  async #consume(signal: AbortSignal): Promise<void> {
    const { config, groupId } = this.#options
    const kafka = await this.#options.kafka()
    await abortable(ensureTopic(kafka, config, this.#logger), signal)
    const consumer = kafka.consumer({
      groupId,
      maxWaitTimeInMs: 100,
      sessionTimeout: 15_000,
      heartbeatInterval: 1000,
      allowAutoTopicCreation: false,
      // What the client gives up on comes here, where another consumer takes its place.
      retry: { ...retry, restartOnFailure: async () => false },
    })
    const crashed = Promise.withResolvers<never>()
    crashed.promise.catch(() => undefined)
    consumer.on(consumer.events.CRASH, ({ payload }) => crashed.reject(payload.error))
    const work = async (): Promise<never> => {
      await consumer.connect()
      // Without an offset of its own a group begins with the oldest event, so that none is passed over.
      await consumer.subscribe({ topics: [config.topic], fromBeginning: true })
      const eachBatch = (payload: EachBatchPayload) => this.#take(payload)
      await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch })
      return crashed.promise
    }
    try {
      await abortable(work(), signal)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      // Returns after the batch at work; a broker that is away is not waited for.
      await atMost(5000, consumer.disconnect())
    }
  }

  async #take(payload: EachBatchPayload): Promise<void> {
    const { batch, resolveOffset, commitOffsetsIfNecessary, heartbeat } = payload
    const { topic, partition, messages } = batch
    for (let from = 0; from < messages.length; from += batchSize) {
      const part = messages.slice(from, from + batchSize)
      if (!(await this.#handled(part, payload))) return
      const { offset } = part.at(-1)!
      resolveOffset(offset)
      const next = String(BigInt(offset) + 1n)
      await commitOffsetsIfNecessary({ topics: [{ topic, partitions: [{ partition, offset: next }] }] })
      await heartbeat()
    }
  }

  /** Tries until it works; false when these are another's by now or nobody wants them any more. */
  async #handled(messages: Message[], { isRunning, isStale, heartbeat }: EachBatchPayload): Promise<boolean> {
    const { signal } = this.#stop
    const events = messages.map(eventOf).filter((event) => event !== undefined)
    if (events.length < messages.length)
      this.#logger.warn({ count: messages.length - events.length }, 'passed over messages that are no events of ours')
    for (
      let pauseMs = 100;
      isRunning() && !isStale() && !signal.aborted;
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    ) {
      try {
        if (events.length > 0) await beating(this.#options.handle(events, signal), heartbeat)
        return true
      } catch (error) {
        // Whatever kind it is: some kinds would stop the client for good.
        if (!signal.aborted) this.#logger.warn({ err: error }, 'events could not be handled, trying again')
      }
      await pause(pauseMs, signal)
      // Throws where the group has changed: then somebody gets these from the last commit on.
      await heartbeat()
    }
    return false
  }
}

/** Lets the group know that we live while a handler takes its time. */
async function beating(work: Promise<void>, heartbeat: () => Promise<void>): Promise<void> {
  // One that fails is found again by the next call that is waited for.
  const timer = setInterval(() => void heartbeat().catch(() => undefined), 3000)
  try {
    await work
  } finally {
    clearInterval(timer)
  }
}
