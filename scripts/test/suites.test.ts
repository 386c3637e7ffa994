import { expect, test } from 'vitest'
import { suitesFor, type TestRequest } from '../test-run/suites.ts'

const plain: TestRequest = { only: undefined, files: [], shape: 'embedded', all: false }
const names = (request: TestRequest, environment = {}) => suitesFor(request, environment).suites.map(({ name }) => name)

test('npm test needs no outside server, even where the environment names one', () => {
  const { suites, leftOut } = suitesFor(plain, { DATABASE_URL: 'postgresql://elsewhere' })
  expect(suites.map(({ name }) => name)).toEqual(['unit', 'e2e embedded'])
  expect(suites.every(({ env }) => env['DATABASE_URL'] === undefined)).toBe(true)
  expect(leftOut).toEqual([])
})

test('test:all runs against the servers that are named and says which it left out', () => {
  const { suites, leftOut } = suitesFor({ ...plain, all: true }, { DATABASE_URL: 'postgresql://elsewhere' })
  expect(suites.at(-1)).toMatchObject({ name: 'outside PostgreSQL', env: { DATABASE_URL: 'postgresql://elsewhere' } })
  expect(leftOut.map((line) => line.split(':')[0])).toEqual(['Kafka', 'S3', 'Kafka with S3', 'Kubernetes'])
  const kafka = suitesFor({ ...plain, all: true }, { KAFKA_BROKERS: 'k:9092' })
  expect(kafka.suites.at(-1)).toMatchObject({ name: 'outside Kafka', env: { KAFKA_BROKERS: 'k:9092' } })
  expect(suites.every(({ env }) => env['KAFKA_BROKERS'] === undefined)).toBe(true)
  expect(suitesFor({ ...plain, all: true }, {}).leftOut[0]).toBe('PostgreSQL: DATABASE_URL not set')
})

test('what goes through all servers runs on separate services where Kafka and S3 are named', () => {
  const s3 = { S3_ENDPOINT: 'http://s', S3_BUCKET: 'b', S3_ACCESS_KEY: 'a', S3_SECRET_KEY: 's' }
  const { suites } = suitesFor({ ...plain, only: ['outside'] }, { ...s3, KAFKA_BROKERS: 'k:9092' })
  expect(suites.map(({ name }) => name)).toEqual(['outside Kafka', 'outside S3', 'outside Kafka with S3'])
  expect(suites.at(-1)!.env).toMatchObject({ E2E_SHAPE: 'services', S3_ENDPOINT: 'http://s', KAFKA_BROKERS: 'k:9092' })
})

test('the attacks on isolation and the console in a browser run where they are asked for, and with all', () => {
  expect(names({ ...plain, only: ['isolation'] })).toEqual(['isolation'])
  expect(names({ ...plain, only: ['console'] })).toEqual(['console'])
  expect(names({ ...plain, all: true })).toEqual(['unit', 'e2e embedded', 'console', 'isolation'])
})

test('paths and names choose what runs', () => {
  expect(suitesFor({ ...plain, files: ['apps/gateway'] }, {}).suites).toMatchObject([{ files: ['apps/gateway'] }])
  expect(names({ ...plain, only: ['e2e'], shape: 'services' })).toEqual(['e2e services'])
  expect(names({ ...plain, only: ['e2e'], shape: 'services', files: ['e2e/suite/lists'] })).toEqual(['e2e services'])
  expect(names({ ...plain, only: ['outside'] }, { DATABASE_URL: 'x' })).toEqual(['outside PostgreSQL'])
  expect(names({ ...plain, files: ['apps/runner/test/isolation/files.test.ts'] })).toEqual(['isolation'])
  expect(names({ ...plain, files: ['apps/runner/test/limits.test.ts'] })).toEqual(['unit'])
  expect(names({ ...plain, only: ['isolation'], files: ['apps/sandbox/test'] })).toEqual(['isolation'])
})

test('of the tests for an outside server those run that paths name', () => {
  const request = { ...plain, only: ['outside'], files: ['libs/database/', 'apps/gateway/'] }
  const { suites } = suitesFor(request, { DATABASE_URL: 'x' })
  expect(suites).toMatchObject([{ name: 'outside PostgreSQL', files: ['libs/database/'], env: { DATABASE_URL: 'x' } }])
})

test('paths of tests that are for a cluster alone run with the one that the environment names', () => {
  const cluster = { KUBECONFIG: 'there' }
  const run = (...files: string[]) => suitesFor({ ...plain, files }, cluster).suites[0]!.env['KUBECONFIG']
  expect(run('apps/sandbox/test/kubernetes/runner-isolation', 'apps/sandbox/test/kubernetes/pods')).toBe('there')
  expect(run('apps/sandbox/test')).toBeUndefined()
})
