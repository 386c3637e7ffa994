import { Environment } from '@automation/service'
import { expect, test } from 'vitest'
import { readCatalogConfig } from '../src/service.ts'

const needed = { DATABASE_URL: 'postgres://localhost/x', ENCRYPTION_KEY: '0123456789abcdef' }

test('a database and a key are all it needs', () => {
  const environment = new Environment(needed)
  const config = readCatalogConfig(environment)
  environment.check()
  expect(config).toMatchObject({
    databaseUrl: needed.DATABASE_URL,
    encryptionKeys: [needed.ENCRYPTION_KEY],
    publicUrl: 'http://localhost:8080',
    accessTokenTtlS: 3600,
    signingKeyRotationDays: 30,
  })
})

test('several keys are separated by commas', () => {
  const environment = new Environment({ ...needed, ENCRYPTION_KEY: 'new-new-new-new-new, old-old-old-old-old,' })
  expect(readCatalogConfig(environment).encryptionKeys).toEqual(['new-new-new-new-new', 'old-old-old-old-old'])
})

test('packages by the names that they are imported by, each of which is a name', () => {
  const read = (pairs: string) => {
    const environment = new Environment({ ...needed, PYTHON_IMPORTS: pairs })
    const { pythonImports } = readCatalogConfig(environment).dependencies
    environment.check()
    return [...pythonImports]
  }
  expect(read('Crypto=pycryptodome, cv2=opencv-python')).toEqual([
    ['Crypto', 'pycryptodome'],
    ['cv2', 'opencv-python'],
  ])
  for (const wrong of ['Crypto', '=a', 'a b=c', 'a=', 'a=--index-url', 'a.b=c'])
    expect(() => read(wrong), wrong).toThrow(`PYTHON_IMPORTS must be pairs IMPORT=PACKAGE`)
})

test('all faults are told at once, by the names of the settings', () => {
  const environment = new Environment({ ENCRYPTION_KEY: 'short', ACCESS_TOKEN_TTL_S: '0', TEAM_LIMITS: 'versions=x' })
  readCatalogConfig(environment)
  const faults = () => environment.check()
  for (const name of ['DATABASE_URL', 'ENCRYPTION_KEY', 'ACCESS_TOKEN_TTL_S', 'TEAM_LIMITS: versions'])
    expect(faults).toThrow(name)
})

test('secrets are masked where settings are shown', () => {
  const environment = new Environment(needed)
  readCatalogConfig(environment)
  const shown = JSON.stringify(environment.settings())
  expect(shown).not.toContain(needed.ENCRYPTION_KEY)
  expect(shown).not.toContain(needed.DATABASE_URL)
})
