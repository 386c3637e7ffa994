import { expect, test } from 'vitest'
import { gapsIn } from '../malformed/coverage.ts'
import { operationsOf } from '../strangers/document.ts'
import { shared } from './shared-system.ts'

test('malformed requests are made of every operation and every field of a body', async () => {
  expect(gapsIn(await operationsOf(shared.host))).toEqual([])
})
