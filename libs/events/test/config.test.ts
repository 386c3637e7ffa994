import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
    return (error as ConfigurationError).faults
  }
}

test('without brokers there is no Kafka, whatever else is set', () => {
  expect(readKafkaConfig(new Environment({ KAFKA_TOPIC: 'events' }))).toBeUndefined()
})

test('without a topic a further cell has one of its own', () => {
  const topicOf = (values: Record<string, string>, cell?: string) =>
    readKafkaConfig(new Environment({ ...brokers, ...values }), cell)?.topic
  expect(topicOf({})).toBe('process-automation.executions')
  expect(topicOf({}, 'blue')).toBe('process-automation.executions.blue')
  expect(topicOf({ KAFKA_TOPIC: 'mine' }, 'blue')).toBe('mine')
})

const brokers = { KAFKA_BROKERS: 'a:9092, b:9093' }
const readWith = (...lines: string[]) =>
  readKafkaConfig(new Environment({ ...brokers, KAFKA_CONFIG: lines.join('\n') }))

test('without properties brokers are spoken to in plain text', () => {
  expect(readKafkaConfig(new Environment(brokers))).toEqual({
    brokers: ['a:9092', 'b:9093'],
    clientId: 'process-automation',
    topic: 'process-automation.executions',
    partitions: 6,
  })
})

test("TLS and SASL are read from the properties of Kafka's Java client", () => {
  const read = readWith(
    '# for a client in Java',
    'security.protocol = SASL_SSL',
    'sasl.mechanism: SCRAM-SHA-512',
    'sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\',
    '  username="us3r" password="pass\\\\"w0rd=;";',
    'ssl.truststore.type=PEM',
    'ssl.truststore.certificates=authority\\npem',
  )
  expect(read).toMatchObject({
    tls: { ca: 'authority\npem' },
    sasl: { mechanism: 'scram-sha-512', username: 'us3r', password: 'pass"w0rd=;' },
  })
})

test('TLS and SASL are read from the properties of librdkafka, certificates from files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kafka-config-'))
  for (const name of ['ca', 'certificate', 'key']) writeFileSync(join(folder, name), `${name}-pem`)
  const read = readWith(
    'security.protocol=sasl_ssl',
    'sasl.mechanisms=PLAIN',
    'sasl.username=us3r',
    'sasl.password=passw0rd',
    ...['ca', 'certificate', 'key'].map((name) => `ssl.${name}.location=${join(folder, name)}`),
  )
  rmSync(folder, { recursive: true })
  expect(read).toMatchObject({
    tls: { ca: 'ca-pem', cert: 'certificate-pem', key: 'key-pem' },
    sasl: { mechanism: 'plain', username: 'us3r', password: 'passw0rd' },
  })
})

test('a text in PEM may be a chain', () => {
  const chain = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'.repeat(3).trimEnd()
  expect(readWith('security.protocol=SSL', `ssl.ca.pem=${chain}`, '')).toMatchObject({ tls: { ca: chain } })
})

test.each(['', '\\n\\', '\\n', '\\'])('a text in PEM may have lines of its own, that end with %j', (end) => {
  const pem = (name: string) => ['-----BEGIN ' + name + '-----', 'AAAA', 'BBBB', '-----END ' + name + '-----']
  const value = (name: string) => pem(name).join(`${end}\n`)
  const read = readWith(
    'security.protocol=SSL',
    `ssl.certificate.pem=${value('CERTIFICATE')}`,
    `ssl.key.pem=${value('KEY')}`,
  )
  expect(read).toMatchObject({ tls: { cert: pem('CERTIFICATE').join('\n'), key: pem('KEY').join('\n') } })
})

test('what signs in is masked where settings are shown', () => {
  const env = new Environment({ ...brokers, KAFKA_CONFIG: 'security.protocol=SSL\nssl.ca.pem=s3cret' })
  readKafkaConfig(env)
  expect(JSON.stringify(env.settings())).not.toContain('s3cret')
})

test.each([
  [{ KAFKA_BROKERS: 'http://k:9092' }, 'KAFKA_BROKERS must be host:port'],
  [{ KAFKA_TOPIC: 'no spaces' }, 'KAFKA_TOPIC must be'],
])('%j is a fault that its setting is named in', (values, fault) => {
  expect(faultsOf({ ...brokers, ...values })).toEqual([expect.stringContaining(fault)])
})

test.each([
  ['security.protocol=TLS', 'PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL'],
  ['security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI\nsasl.username=s3cret\nsasl.password=s3cret', 'SCRAM-SHA-512'],
  ['security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=s3cret', 'username and password'],
  ['sasl.mechanism=PLAIN\nsasl.username=s3cret\nsasl.password=s3cret', 'security.protocol'],
  ['ssl.ca.pem=s3cret', 'security.protocol'],
  ['security.protocol=SSL\nssl.certificate.pem=s3cret', 'certificate with its key'],
  ['security.protocol=SSL\nssl.ca.location=/not/there/s3cret', 'ssl.ca.location, ENOENT'],
  [
    'security.protocol=SSL\nssl.certificate.pem=s3cret\nssl.key.pem=-----BEGIN PRIVATE KEY-----\ns3cret/AB\ns3cret=',
    'no properties: 2',
  ],
  ['security.protocol=SSL\nsasl.jaas.config=Module required\ns3cret\npassword="s3cret";', 'no properties: 2'],
  ['security.protocol=SSL\nssl.truststore.type=JKS', 'PEM'],
  ['security.protocol=SSL\nssl.endpoint.identification.algorithm=s3cret', 'ssl.endpoint.identification.algorithm'],
])('the properties %j are a fault, which tells no value that may be secret', (text, named) => {
  const faults = faultsOf({ ...brokers, KAFKA_CONFIG: text })
  expect(faults).toEqual([expect.stringContaining(named)])
  expect(faults[0]).toMatch(/^KAFKA_CONFIG (?!.*s3cret)/)
})
