import type { Kafka } from 'kafkajs'

/** Messages of a topic that a consumer group has not committed. Throws where the broker does not answer. */
export async function groupLag(kafka: Kafka, topic: string, groupId: string): Promise<number> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    const [ends, committed] = await Promise.all([
      admin.fetchTopicOffsets(topic),
      admin.fetchOffsets({ groupId, topics: [topic] }),
    ])
    const offsets = new Map(committed[0]?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]))
    return ends.reduce((sum, { partition, high, low }) => {
      const done = offsets.get(partition) ?? -1n
      const from = done < BigInt(low) ? BigInt(low) : done
      return sum + Number(BigInt(high) - from)
    }, 0)
  } finally {
    await admin.disconnect()
  }
}
