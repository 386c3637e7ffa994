import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError, Environment, readDatabaseUrl } from '@automation/service'
import { expect, test } from 'vitest'

function faultsOf(values: Record<string, string>, read: (env: Environment) => void): string[] {
  const env = new Environment(values)
  read(env)
  try {
    env.check()
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults
    throw error
  }
  return []
}

test('an empty value counts as absent', () => {
  const env = new Environment({ PORT: '', NAME: '' })
  expect(env.integer('PORT', { default: 8080 })).toBe(8080)
  expect(env.text('NAME', 'x')).toBe('x')
})

test('all faults are told at once, each with its setting', () => {
  const faults = faultsOf({ PORT: '70000', DEBUG: 'perhaps', ISOLATION: 'brick', URL: 'nowhere' }, (env) => {
    env.integer('PORT', { default: 1, max: 65_535 })
    env.boolean('DEBUG', false)
    env.choice('ISOLATION', ['namespaces', 'none'])
    env.url('URL')
  })
  expect(faults.map((fault) => fault.split(' ')[0])).toEqual(['PORT', 'DEBUG', 'ISOLATION', 'URL'])
})

test.each(['nowhere', 'localhost:8080', 'file:///x'])('%s is no address of a server', (raw) => {
  expect(faultsOf({ URL: raw }, (env) => env.url('URL'))).toHaveLength(1)
})

test.each([
  ['none of a database', 'host=localhost dbname=x'],
  ['without a number for its port', 'postgres://user:pa/ss@localhost/x'],
  ['of two servers', 'postgres://one:5432,two:5432/x'],
])('an address %s is named as such', (_what, url) => {
  expect(faultsOf({ DATABASE_URL: url }, readDatabaseUrl)).toEqual([expect.stringMatching(/^DATABASE_URL must be/)])
})

test.each([
  'postgresql://user:pa%2Fss@[::1]:5432/x?sslmode=require',
  'postgres://user:password@/x?host=/run/postgresql',
  'postgres:///x?host=/run/postgresql',
  'postgres://%2Frun%2Fpostgresql/x',
])('%s is the address of a database', (url) => {
  expect(faultsOf({ DATABASE_URL: url }, readDatabaseUrl)).toEqual([])
})

test.each(['1.5', 'abc', '-1', '1e9', '0x', 'NaN', 'Infinity'])('%s is no whole number from 0 to 100', (raw) => {
  expect(faultsOf({ SIZE: raw }, (env) => env.integer('SIZE', { default: 1, max: 100 }))).toHaveLength(1)
})

test('numbers of one setting have their defaults, and a fault names the part', () => {
  const ranges = { small: { default: 1, max: 9 }, large: { default: 100 }, other: { default: 7 } }
  const env = new Environment({ LIMITS: 'large=500, small=3' })
  expect(env.integers('LIMITS', ranges)).toEqual({ small: 3, large: 500, other: 7 })
  expect(env.settings()).toEqual([{ name: 'LIMITS', value: 'small=3,large=500,other=7' }])
  expect(faultsOf({ LIMITS: 'small=10,large=x,huge=1,other' }, (one) => one.integers('LIMITS', ranges))).toEqual([
    'LIMITS must be name=value of small, large, other, not "huge=1"',
    'LIMITS must be name=value of small, large, other, not "other"',
    'LIMITS: small must be a whole number from 0 to 9, not "10"',
    expect.stringMatching(/^LIMITS: large must be a whole number/),
  ])
})

test('a secret may come from a file, and a file that is not there is a fault of its setting', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'environment-'))
  await writeFile(join(folder, 'key'), 'secret of a file\n')
  const env = new Environment({ KEY_FILE: join(folder, 'key') })
  expect(env.secret('KEY')).toBe('secret of a file')
  expect(env.settings()).toEqual([{ name: 'KEY', value: '******' }])
  expect(faultsOf({ KEY_FILE: join(folder, 'none') }, (one) => one.secret('KEY'))[0]).toMatch(/KEY_FILE.*ENOENT/)
  await rm(folder, { recursive: true })
})
