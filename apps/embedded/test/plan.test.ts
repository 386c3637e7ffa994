import { expect, test } from 'vitest'
import { Environment } from '@automation/service'
import { planServices } from '../src/services/plan.ts'
import { readServicesSettings } from '../src/services/settings.ts'

const secrets = {
  databaseUrl: 'db-secret',
  internalKey: 'internal-secret',
  encryptionKey: 'enc-secret',
  runnerKey: 'runner-secret',
}

const operator = {
  PATH: '/bin',
  LOG_LEVEL: 'warn',
  RUNNER_SLOTS: '4',
  DATABASE_URL: 'given-db',
  INTERNAL_KEY_FILE: '/keys/internal',
  ENCRYPTION_KEY: 'given-enc',
  BOOTSTRAP_API_TOKEN: 'sk-given',
  S3_SECRET_KEY: 's3-secret',
  OTHER_SECRET: 'other-secret',
}

const plans = planServices(readServicesSettings(new Environment(operator)), operator, secrets)

test('the runner is given its key and its settings, and nothing that user code could want', () => {
  expect(plans.runner.env).toEqual({
    PATH: '/bin',
    LOG_LEVEL: 'warn',
    RUNNER_SLOTS: '4',
    RUNNER_KEY: 'runner-secret',
    EXECUTION_ADDRESSES: '127.0.0.1:9102',
    HEALTH_PORT: '9203',
  })
})

test('the gateway holds neither the database nor the key of stored secrets', () => {
  const text = JSON.stringify(plans.gateway.env)
  for (const secret of ['db-secret', 'given-db', 'enc-secret', 'given-enc', 'sk-given'])
    expect(text).not.toContain(secret)
  expect(plans.gateway.env).toMatchObject({ INTERNAL_KEY: 'internal-secret', CATALOG_ADDRESS: '127.0.0.1:9101' })
})

test('only the catalog holds the key of stored secrets', () => {
  expect(plans.catalog.env['ENCRYPTION_KEY']).toBe('enc-secret')
  expect(plans.execution.env['ENCRYPTION_KEY']).toBeUndefined()
  expect(plans.execution.env['DATABASE_URL']).toBe('db-secret')
})
