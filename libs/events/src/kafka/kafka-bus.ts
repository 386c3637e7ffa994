import { atMost, type Check, type Logger } from '@automation/service'
import type { Admin, Kafka } from 'kafkajs'
import type { Backlog, EventHandler, FedEventBus, Subscription } from '../event-bus.ts'
import type { Outbox } from '../outbox.ts'
import { OutboxBus } from '../outbox-bus.ts'
import { GroupConsumer } from './group-consumer.ts'
import { openKafka, type Connect } from './kafka-client.ts'
import type { KafkaConfig } from './kafka-config.ts'
import { KafkaPublisher } from './publisher.ts'

export interface KafkaBusOptions {
  config: KafkaConfig
  outbox: Outbox
  logger: Logger
  /** How often to look into the outbox where no wake-up has come. */
  lookMs?: number
  connect?: Connect
}

const reader = 'kafka'
const measureMs = 3000

/** An event bus over Kafka: one reader of the outbox publishes, subscribers are members of consumer groups. */
export class KafkaBus implements FedEventBus {
  readonly #options: KafkaBusOptions
  readonly #outboxBus: OutboxBus
  readonly #publisher: KafkaPublisher
  readonly #consumers = new Map<GroupConsumer, string>()
  #client: Promise<Kafka> | undefined
  #measuring: Promise<Backlog[]> | undefined

  constructor(options: KafkaBusOptions) {
    const { config, outbox, logger, lookMs } = options
    this.#options = options
    this.#publisher = new KafkaPublisher({ kafka: this.#kafka, config, logger })
    this.#outboxBus = new OutboxBus({
      outbox,
      logger,
      batch: 2000,
      batchMs: 2,
      ...(lookMs === undefined ? {} : { lookMs }),
    })
    this.#outboxBus.subscribe(reader, (events, signal) => this.#publisher.publish(events, signal))
  }

  readonly #kafka = (): Promise<Kafka> => {
    const { config, logger, connect } = this.#options
    return (this.#client ??= openKafka(config, logger, connect))
  }

  get readers(): string[] {
    return this.#outboxBus.readers
  }

  subscribe(name: string, handle: EventHandler): Subscription {
    const { config, logger } = this.#options
    const consumer = new GroupConsumer({ kafka: this.#kafka, config, groupId: this.#groupOf(name), handle, logger })
    this.#consumers.set(consumer, name)
    return {
      close: async () => {
        this.#consumers.delete(consumer)
        await consumer.close()
      },
    }
  }

  wake(): void {
    this.#outboxBus.wake()
  }

  async mark(): Promise<() => Promise<boolean>> {
    const kafka = await this.#kafka()
    const { topic } = this.#options.config
    const groups = [...new Set(this.#consumers.values())].map((name) => this.#groupOf(name))
    const ends = await withAdmin(kafka, (admin) => admin.fetchTopicOffsets(topic))
    return () =>
      withAdmin(kafka, async (admin) => {
        for (const groupId of groups) {
          const handled = await handledOffsets(admin, topic, groupId)
          if (
            !ends.every(({ partition, high, low }) => high === low || (handled.get(partition) ?? -1n) >= BigInt(high))
          )
            return false
        }
        return true
      })
  }

  async backlogs(): Promise<Backlog[]> {
    const waiting = await this.#outboxBus.backlogs()
    let groups: Backlog[] = []
    const measuring = (this.#measuring ??= this.#lags().finally(() => (this.#measuring = undefined)))
    await atMost(
      measureMs,
      measuring.then((found) => (groups = found)),
    )
    return [...waiting, ...groups]
  }

  check(): Check {
    const since = this.#publisher.stuckSince
    const detail = since === undefined ? 'Kafka' : `Kafka takes no events since ${since.toISOString()}; they wait`
    return { name: 'event bus', ok: true, detail }
  }

  async close(): Promise<void> {
    const consumers = [...this.#consumers.keys()]
    this.#consumers.clear()
    await Promise.all([this.#outboxBus.close(), ...consumers.map((consumer) => consumer.close())])
    await this.#publisher.close()
  }

  /** Groups are named after the topic as well: several systems may share a cluster. */
  #groupOf(name: string): string {
    return `${this.#options.config.topic}.${name}`
  }

  async #lags(): Promise<Backlog[]> {
    const names = [...new Set(this.#consumers.values())]
    if (names.length === 0) return []
    const kafka = await this.#kafka()
    const { topic } = this.#options.config
    return Promise.all(
      names.map(async (consumer) => ({ consumer, count: await groupLag(kafka, topic, this.#groupOf(consumer)) })),
    )
  }
}

/** Messages of a topic that a consumer group has not committed. Throws where the broker does not answer. */
function groupLag(kafka: Kafka, topic: string, groupId: string): Promise<number> {
  return withAdmin(kafka, async (admin) => {
    const [ends, handled] = await Promise.all([admin.fetchTopicOffsets(topic), handledOffsets(admin, topic, groupId)])
    return ends.reduce((sum, { partition, high, low }) => {
      const done = handled.get(partition) ?? -1n
      const from = done < BigInt(low) ? BigInt(low) : done
      return sum + Number(BigInt(high) - from)
    }, 0)
  })
}

/** By partition; below 0 where a group has committed nothing. */
async function handledOffsets(admin: Admin, topic: string, groupId: string): Promise<Map<number, bigint>> {
  const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] })
  return new Map(committed?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]))
}

async function withAdmin<T>(kafka: Kafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}
