import { expect, test } from 'vitest'
import { operationsOf } from '../client/document.ts'
import { notAimedAt } from '../malformed/coverage.ts'
import { shared } from './shared-system.ts'

test('every input of every operation is one that malformed requests aim at', async () => {
  expect(notAimedAt(await operationsOf(shared.host))).toEqual([])
})
