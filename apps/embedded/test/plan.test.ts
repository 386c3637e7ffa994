import { expect, test } from 'vitest'
import { Environment } from '@automation/service'
import { closedPorts } from '../src/closed-ports.ts'
import { planServices } from '../src/services/plan.ts'
import { readServicesSettings } from '../src/services/settings.ts'

const secrets = {
  databaseUrl: 'postgres://db-secret@127.0.0.1:5433/x',
  internalKey: 'internal-secret',
  encryptionKey: 'enc-secret',
  runnerKey: 'runner-secret',
  gatewayKeys: { privateRing: 'gateway:private:secret', publicRing: 'gateway:public:known' },
}

const operator = {
  PATH: '/bin',
  LOG_LEVEL: 'warn',
  RUNNER_SLOTS: '4',
  SERVICE_PORTS: 'catalogHealth=9301',
  DATABASE_URL: 'given-db',
  INTERNAL_KEY_FILE: '/keys/internal',
  ENCRYPTION_KEY: 'given-enc',
  BOOTSTRAP_API_TOKEN: 'sk-given',
  S3_SECRET_KEY: 's3-secret',
  OIDC_CLIENT_SECRET: 'oidc-secret',
  OTHER_SECRET: 'other-secret',
  KAFKA_BROKERS: 'k:9092',
  KAFKA_CONFIG_FILE: '/keys/kafka',
}

const plans = planServices(readServicesSettings(new Environment(operator)), operator, secrets)

test('the runner is given its key and its settings, and nothing that user code could want', () => {
  expect(plans.runner.env).toEqual({
    PATH: '/bin',
    LOG_LEVEL: 'warn',
    RUNNER_SLOTS: '4',
    RUNNER_KEY: 'runner-secret',
    SERVICE_PORTS: 'catalogHealth=9301',
    HEALTH_PORT: '9203',
    RUNNER_CLOSED_PORTS: '8080,8081,8082,8083,9101,9102,9104,9105,9106,9200,9301,9202,9203,9204,9205,9206,5433',
  })
})

test('the gateway holds its own key, and neither that of the services, nor the database, nor the key of stored secrets', () => {
  const text = JSON.stringify(plans.gateway.env)
  for (const secret of ['internal-secret', 'db-secret', 'given-db', 'enc-secret', 'given-enc', 'sk-given'])
    expect(text).not.toContain(secret)
  const INTERNAL_KEY = secrets.gatewayKeys.privateRing
  expect(plans.gateway.env).toMatchObject({ INTERNAL_KEY, SERVICE_PORTS: 'catalogHealth=9301' })
  expect(plans.catalog.env['INTERNAL_KEY']).toBe(`internal-secret,${secrets.gatewayKeys.publicRing}`)
})

test('only those that store secrets hold the key of them', () => {
  for (const { env } of [plans.catalog, plans.sandbox, plans.storage]) expect(env['ENCRYPTION_KEY']).toBe('enc-secret')
  for (const { env } of [plans.execution, plans.scheduler]) expect(env['ENCRYPTION_KEY']).toBeUndefined()
  expect(plans.execution.env['DATABASE_URL']).toBe(secrets.databaseUrl)
})

test.each([
  ['execution', 'how to enter Kafka', '/keys/kafka'],
  ['storage', 'the keys of the object store', 's3-secret'],
  ['gateway', 'what it is at the issuer', 'oidc-secret'],
])('only %s knows %s', (service, _, secret) => {
  const knowing = Object.entries(plans).filter(([, { env }]) => JSON.stringify(env).includes(secret))
  expect(knowing.map(([name]) => name)).toEqual([service])
})

test('further replicas of execution are told to all that call it, and where other services are to none', () => {
  const SERVICE_ADDRESSES = 'catalog=elsewhere:9101,execution=127.0.0.1:9102,execution=127.0.0.2:9102'
  const own = planServices(readServicesSettings(new Environment(operator)), { ...operator, SERVICE_ADDRESSES }, secrets)
  for (const { env } of [own.gateway, own.runner, own.scheduler, own.catalog, own.execution])
    expect(env['SERVICE_ADDRESSES']).toBe('execution=127.0.0.1:9102,execution=127.0.0.2:9102')
})

test('process code reaches no port of the system here, and the web all the same', () => {
  expect(closedPorts({}, [8080], 'postgres://u:p@localhost/x')).toBe('8080,5432')
  expect(closedPorts({ SERVICE_ADDRESSES: 'execution=127.0.0.1:9102,execution=other:9103' }, [], '')).toBe('9102')
  expect(closedPorts({}, [443], 'postgres://u:p@db.example.com:5432/x')).toBe('')
  expect(closedPorts({ KAFKA_BROKERS: '127.0.0.1:9092, kafka.example.com:9093' }, [0], '')).toBe('9092')
  expect(closedPorts({ S3_ENDPOINT: 'http://[::1]:9000', RUNNER_CLOSED_PORTS: '6379' }, [], '')).toBe('6379,9000')
})
