import type { Logger } from '@automation/service'
import type { Admin, ITopicMetadata, Kafka } from 'kafkajs'
import type { KafkaConfig } from './kafka-config.ts'

type TopicConfig = Pick<KafkaConfig, 'topic' | 'partitions'>

const settleMs = 30_000
const dayMs = 86_400_000
/** A record goes when the newest of its segment is older than the retention: after eight days at most. */
const kept = { 'cleanup.policy': 'delete', 'retention.ms': 7 * dayMs, 'segment.ms': dayMs }

/**
 * Makes the topic where it is missing, and waits until each partition has a leader; gives the number of partitions,
 * which for a topic that was there is its own.
 */
export async function ensureTopic(kafka: Kafka, config: TopicConfig, logger: Logger): Promise<number> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    const found = await find(admin, config.topic)
    if (found === undefined) await make(admin, config, logger)
    const { partitions } = await settled(admin, config.topic)
    if (partitions.length !== config.partitions)
      logger.info(
        { topic: config.topic, partitions: partitions.length },
        'the topic keeps its own number of partitions',
      )
    return partitions.length
  } finally {
    await admin.disconnect()
  }
}

async function make(admin: Admin, config: TopicConfig, logger: Logger): Promise<void> {
  const { topic, partitions } = config
  const { brokers } = await admin.describeCluster()
  const replicationFactor = Math.min(3, brokers.length)
  const inSync = replicationFactor >= 3 ? 2 : 1
  const configEntries = Object.entries({ 'min.insync.replicas': inSync, ...kept }).map(([name, value]) => ({
    name,
    value: String(value),
  }))
  // Waiting for leaders is done below: this call's own way may fail on a topic that is there.
  const made = await admin.createTopics({
    topics: [{ topic, numPartitions: partitions, replicationFactor, configEntries }],
    waitForLeaders: false,
  })
  if (made) logger.info({ topic, partitions, replicationFactor, inSync }, 'made the topic of lifecycle events')
}

async function settled(admin: Admin, topic: string): Promise<ITopicMetadata> {
  for (const end = performance.now() + settleMs; ;) {
    const found = await find(admin, topic)
    if (found !== undefined && found.partitions.length > 0 && found.partitions.every(({ leader }) => leader >= 0))
      return found
    if (performance.now() > end) throw new Error(`The topic ${topic} has no leader for each partition`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function find(admin: Admin, topic: string): Promise<ITopicMetadata | undefined> {
  try {
    return (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0]
  } catch (error) {
    const { type } = error as { type?: string }
    if (type === 'UNKNOWN_TOPIC_OR_PARTITION' || type === 'LEADER_NOT_AVAILABLE') return undefined
    throw error
  }
}
