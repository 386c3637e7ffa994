import type { Environment } from '@automation/service'

export const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const

export interface KafkaConfig {
  /** `host:port` each; any of them is enough to find the others. */
  brokers: string[]
  clientId: string
  topic: string
  /** Of a topic that is made; one that is there keeps what it has. */
  partitions: number
  /** Absent: plain text. The texts are PEM. */
  tls?: { ca?: string; cert?: string; key?: string }
  sasl?: { mechanism: (typeof saslMechanisms)[number]; username: string; password: string }
}

/** Reads and checks the settings of Kafka; undefined where KAFKA_BROKERS names none. Faults are noted in `env`. */
export function readKafkaConfig(env: Environment): KafkaConfig | undefined {
  const brokers = env.list('KAFKA_BROKERS', [])
  const config = {
    brokers,
    clientId: 'process-automation',
    topic: env.text('KAFKA_TOPIC', 'process-automation.executions'),
    partitions: 6,
    tls: readTls(env),
    sasl: readSasl(env),
  }
  if (brokers.length === 0) return undefined
  if (!brokers.every((broker) => /^[^\s/@]+:\d{1,5}$/.test(broker)))
    env.fault('KAFKA_BROKERS', 'must be host:port, several separated by commas')
  if (!/^[A-Za-z0-9._-]{1,249}$/.test(config.topic))
    env.fault('KAFKA_TOPIC', 'must be 1 to 249 letters, digits, dots, hyphens and underscores')
  return config
}

function readTls(env: Environment): KafkaConfig['tls'] {
  const on = env.boolean('KAFKA_SSL', false)
  const [ca, cert, key] = [env.secret('KAFKA_SSL_CA'), env.secret('KAFKA_SSL_CERT'), env.secret('KAFKA_SSL_KEY')]
  if ((cert === undefined) !== (key === undefined))
    env.fault(cert === undefined ? 'KAFKA_SSL_CERT' : 'KAFKA_SSL_KEY', 'is required where the other of the pair is set')
  return on ? { ca, cert, key } : undefined
}

function readSasl(env: Environment): KafkaConfig['sasl'] {
  const mechanism = env.choice('KAFKA_SASL_MECHANISM', saslMechanisms)
  const username = env.secret('KAFKA_SASL_USERNAME')
  const password = env.secret('KAFKA_SASL_PASSWORD')
  if (mechanism === undefined) return undefined
  if (username === undefined) env.fault('KAFKA_SASL_USERNAME', 'is required with KAFKA_SASL_MECHANISM')
  if (password === undefined) env.fault('KAFKA_SASL_PASSWORD', 'is required with KAFKA_SASL_MECHANISM')
  return { mechanism, username: username ?? '', password: password ?? '' }
}
