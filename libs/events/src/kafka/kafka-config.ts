import type { Environment } from '@automation/service'
import { kafkaSecurity, type KafkaSecurity } from './client-properties.ts'

export interface KafkaConfig extends KafkaSecurity {
  /** `host:port` each; any of them is enough to find the others. */
  brokers: string[]
  clientId: string
  topic: string
  /** Of a topic that is made; one that is there keeps what it has. */
  partitions: number
}

/**
 * Reads and checks the settings of Kafka; undefined where KAFKA_BROKERS names none. Faults are noted in `env`. Without a
 * topic a further cell has one of its own: two that share one would take each other's events.
 */
export function readKafkaConfig(env: Environment, cell = ''): KafkaConfig | undefined {
  const brokers = env.list('KAFKA_BROKERS', [])
  const topic = env.text('KAFKA_TOPIC', ['process-automation.executions', ...(cell === '' ? [] : [cell])].join('.'))
  const properties = env.secret('KAFKA_CONFIG', '')
  if (brokers.length === 0) return undefined
  if (!brokers.every((broker) => /^[^\s/@]+:\d{1,5}$/.test(broker)))
    env.fault('KAFKA_BROKERS', 'must be host:port, several separated by commas')
  if (!/^[A-Za-z0-9._-]{1,249}$/.test(topic))
    env.fault('KAFKA_TOPIC', 'must be 1 to 249 letters, digits, dots, hyphens and underscores')
  const security = kafkaSecurity(properties, (text) => env.fault('KAFKA_CONFIG', text))
  return { brokers, clientId: 'process-automation', topic, partitions: 6, ...security }
}
