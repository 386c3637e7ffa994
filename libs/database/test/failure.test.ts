import { databaseFailure } from '@automation/database'
import { expect, test } from 'vitest'

test.each([
  ['53100', 'unavailable'],
  ['53300', 'unavailable'],
  ['57P01', 'unavailable'],
  ['57P03', 'unavailable'],
  ['08006', 'unavailable'],
  ['28P01', 'unavailable'],
  ['3D000', 'unavailable'],
  ['40P01', 'unavailable'],
  ['ECONNREFUSED', 'unavailable'],
  ['P1000', 'unavailable'],
  ['P1001', 'unavailable'],
  ['P2024', 'unavailable'],
  ['23505', 'internal'],
  ['42601', 'internal'],
  ['P2002', 'internal'],
])('%s is %s', (code, kind) => {
  const error = Object.assign(new Error('from the driver'), { code })
  expect(databaseFailure(error)).toMatchObject({ kind, cause: error })
  expect(databaseFailure(new Error('wrapped', { cause: error }))).toMatchObject({ kind })
  expect(databaseFailure(error).message).not.toContain('driver')
})
