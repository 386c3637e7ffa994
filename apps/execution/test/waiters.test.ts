import { Status } from '@automation/contract/execution/v1/execution'
import { expect, test } from 'vitest'
import { Waiters, type RunOutcome } from '../src/end/waiters.ts'

const value: RunOutcome = { status: Status.FINISHED, returnValue: Buffer.from('1') }
const notKept: RunOutcome = { status: Status.FINISHED, notKept: true }
const never = new AbortController().signal

test('who waits for a value that is not kept gets it, though a look at the record was faster', async () => {
  const waiters = new Waiters()
  const outcome = waiters.open('run').wait(1000, never)
  waiters.settle('run', notKept)
  waiters.settle('run', value)
  expect(await outcome).toBe(value)
  expect(waiters.count).toBe(0)
})

test('where the value does not come, the second look at the record says that it was not kept', async () => {
  const waiters = new Waiters()
  const outcome = waiters.open('run').wait(1000, never)
  waiters.settle('run', notKept)
  waiters.settle('run', notKept)
  expect(await outcome).toBe(notKept)
})
