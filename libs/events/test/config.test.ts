import { Environment, type ConfigurationError } from '@automation/service'
import { expect, test } from 'vitest'
import { readKafkaConfig } from '../src/kafka/kafka-config.ts'

function faultsOf(values: Record<string, string>): string[] {
  const env = new Environment(values)
  readKafkaConfig(env)
  try {
    env.check()
    return []
  } catch (error) {
    return (error as ConfigurationError).faults.map((fault) => fault.split(' ')[0]!)
  }
}

test('without brokers there is no Kafka, whatever else is set', () => {
  expect(readKafkaConfig(new Environment({ KAFKA_TOPIC: 'events' }))).toBeUndefined()
})

test('TLS and SASL are read, and their secrets are masked where settings are shown', () => {
  const env = new Environment({
    KAFKA_BROKERS: 'a:9092, b:9093',
    KAFKA_SSL: 'true',
    KAFKA_SSL_CA: 'authority-pem',
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: 'us3r',
    KAFKA_SASL_PASSWORD: 'passw0rd',
  })
  expect(readKafkaConfig(env)).toEqual({
    brokers: ['a:9092', 'b:9093'],
    clientId: 'process-automation',
    topic: 'process-automation.executions',
    partitions: 6,
    tls: { ca: 'authority-pem', cert: undefined, key: undefined },
    sasl: { mechanism: 'scram-sha-512', username: 'us3r', password: 'passw0rd' },
  })
  const shown = JSON.stringify(env.settings())
  for (const secret of ['us3r', 'passw0rd', 'authority-pem']) expect(shown).not.toContain(secret)
})

test('faults are named by their settings', () => {
  const brokers = { KAFKA_BROKERS: 'k:9092' }
  expect(faultsOf({ KAFKA_BROKERS: 'http://k:9092' })).toEqual(['KAFKA_BROKERS'])
  expect(faultsOf({ ...brokers, KAFKA_TOPIC: 'no spaces' })).toEqual(['KAFKA_TOPIC'])
  expect(faultsOf({ ...brokers, KAFKA_SASL_MECHANISM: 'gssapi' })).toEqual(['KAFKA_SASL_MECHANISM'])
  expect(faultsOf({ ...brokers, KAFKA_SSL_CERT: 'x' })).toEqual(['KAFKA_SSL_KEY'])
  expect(faultsOf({ ...brokers, KAFKA_SASL_MECHANISM: 'plain' })).toEqual([
    'KAFKA_SASL_USERNAME',
    'KAFKA_SASL_PASSWORD',
  ])
})
