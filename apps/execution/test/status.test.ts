import { Status } from '@automation/contract/execution/v1/execution'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { before, isTerminal, mayFollow, statuses } from '../src/status.ts'

const anyStatus = fc.constantFrom(...statuses)

/** A walk that takes a step whenever it is allowed. */
function walk(targets: Status[]): Status[] {
  const path: Status[] = [Status.CREATED]
  for (const to of targets) if (mayFollow(path.at(-1)!, to)) path.push(to)
  return path
}

test('a terminal status is never left, and every other one can reach one', () => {
  fc.assert(
    fc.property(fc.array(anyStatus, { maxLength: 30 }), (targets) => {
      const path = walk(targets)
      const end = path.findIndex(isTerminal)
      expect(end === -1 || end === path.length - 1).toBe(true)
      expect(isTerminal(path.at(-1)!) || mayFollow(path.at(-1)!, Status.KILLED)).toBe(true)
    }),
  )
})

test('a run that ran never waits again, and one that was REJECTED never ran', () => {
  fc.assert(
    fc.property(fc.array(anyStatus, { maxLength: 30 }), (targets) => {
      const path = walk(targets)
      const ran = path.indexOf(Status.RUNNING)
      if (ran >= 0) expect(path.slice(ran + 1).every(isTerminal)).toBe(true)
      if (path.includes(Status.REJECTED)) expect(ran).toBe(-1)
    }),
  )
})

test('what may be killed is what has not ended', () => {
  expect(before(Status.KILLED)).toEqual(statuses.filter((status) => !isTerminal(status)))
  expect(before(Status.FINISHED)).toEqual([Status.RUNNING])
})
