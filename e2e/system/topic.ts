import { randomUUID } from 'node:crypto'
import kafkajs, { type Kafka } from 'kafkajs'

/** A topic of lifecycle events, as whoever may read it sees it. */
export interface Topic {
  /** Its records that can be read now: key, headers and value of each, as bytes. */
  records(): Promise<Buffer[]>
  /** Settings by which its records go, in ms. */
  settings(): Promise<{ retentionMs: number; segmentMs: number }>
}

/** The topic that KAFKA_BROKERS and KAFKA_TOPIC name; undefined where they name none. */
export function topicOf(env: Record<string, string | undefined>): Topic | undefined {
  const { KAFKA_BROKERS, KAFKA_TOPIC = 'process-automation.executions' } = env
  if (KAFKA_BROKERS === undefined) return undefined
  const kafka = new kafkajs.Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: kafkajs.logLevel.NOTHING })
  return {
    records: () => readAll(kafka, KAFKA_TOPIC),
    settings: () => withAdmin(kafka, (admin) => settingsOf(admin, KAFKA_TOPIC)),
  }
}

type Admin = ReturnType<Kafka['admin']>

async function withAdmin<T>(kafka: Kafka, ask: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    return await ask(admin)
  } finally {
    await admin.disconnect()
  }
}

async function settingsOf(admin: Admin, topic: string) {
  const type = kafkajs.ConfigResourceTypes.TOPIC
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type, name: topic }] })
  const of = (wanted: string) =>
    Number(resources[0]!.configEntries.find(({ configName }) => configName === wanted)?.configValue)
  return { retentionMs: of('retention.ms'), segmentMs: of('segment.ms') }
}

async function readAll(kafka: Kafka, topic: string): Promise<Buffer[]> {
  const offsets = await withAdmin(kafka, (admin) => admin.fetchTopicOffsets(topic))
  const left = new Map(
    offsets
      .filter(({ high, low }) => BigInt(high) > BigInt(low))
      .map(({ partition, high }) => [partition, BigInt(high)]),
  )
  if (left.size === 0) return []
  const groupId = `reader-${randomUUID()}`
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 })
  const read: Buffer[] = []
  const done = Promise.withResolvers<void>()
  consumer.on(consumer.events.CRASH, ({ payload }) => done.reject(payload.error))
  await consumer.connect()
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch: { partition, messages } }) => {
        for (const { key, headers = {}, value } of messages)
          read.push(Buffer.concat([key, ...Object.values(headers).flat(), value].flatMap((part) => bytesOf(part))))
        if (BigInt(messages.at(-1)?.offset ?? -1) + 1n >= (left.get(partition) ?? 0n)) left.delete(partition)
        if (left.size === 0) done.resolve()
      },
    })
    await done.promise
  } finally {
    await consumer.disconnect()
    await withAdmin(kafka, (admin) => admin.deleteGroups([groupId]))
  }
  return read
}

function bytesOf(part: Buffer | string | null | undefined): Buffer[] {
  return part === null || part === undefined ? [] : [Buffer.from(part)]
}
