import { RunSpecSchema } from '@automation/contract/catalog/v1/resolve'
import { Language } from '@automation/contract/common/v1/language'
import { create } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AwaitedSlots } from '../src/dispatch/awaited-slots.ts'
import { Backlog } from '../src/dispatch/backlog.ts'
import { allLanguages } from '../src/dispatch/languages.ts'
import type { RunnerInit } from '../src/dispatch/runner-credit.ts'
import { type Slot, Slots } from '../src/dispatch/slots.ts'
import { RunSpecCache } from '../src/dispatch/runners.ts'

const teams = ['a', 'b', 'c']

const runner = (some: Partial<RunnerInit> = {}) => ({
  sessionId: 's',
  pool: 'default',
  slots: 8,
  oneTeam: false,
  languages: allLanguages,
  ...some,
})

/** Takes slots for a team, as a claim that has runs for all of them. */
const takeUpTo = (slots: Slots, count: number, team = 'a') =>
  [...slots.portions('default', () => [team], count)].flatMap((portion) => portion.slots)

type Step = { do: 'grant'; session: string; slots: number } | { do: 'take'; team: string } | { do: 'giveBack' }
const steps = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('grant' as const),
      session: fc.constantFrom('s1', 's2'),
      slots: fc.integer({ min: 1, max: 4 }),
    }),
    fc.record({ do: fc.constant('take' as const), team: fc.constantFrom(...teams) }),
    fc.record({ do: fc.constant('giveBack' as const) }),
  ),
  { maxLength: 60 },
)

test('slots are never taken more often than they were granted', () => {
  fc.assert(
    fc.property(steps, (script: Step[]) => {
      const slots = new Slots()
      for (const sessionId of ['s1', 's2']) slots.open(runner({ sessionId }))
      let free = 0
      const taken: Slot[] = []
      for (const step of script) {
        if (step.do === 'grant') {
          slots.grant(step.session, step.slots)
          free += step.slots
        } else if (step.do === 'take') {
          const slot = slots.take('default', step.team, Language.JAVASCRIPT)
          if (slot === undefined) continue
          taken.push(slot)
          free -= 1
        } else if (taken.length > 0) {
          slots.giveBack(taken.pop()!)
          free += 1
        }
        expect(slots.credit('default')).toBe(free)
        expect(free).toBeGreaterThanOrEqual(0)
      }
    }),
  )
})

test('in a pool with more than two slots, the last free one goes only to a team that holds none there', () => {
  const slots = new Slots()
  slots.open(runner({ slots: 3 }))
  slots.grant('s', 3)
  const take = (team: string) => {
    const session = slots.take('default', team, Language.JAVASCRIPT)
    if (session !== undefined) slots.hold('default', team)
    return session?.sessionId
  }
  expect([take('a'), take('a'), take('a'), take('b')]).toEqual(['s', 's', undefined, 's'])
})

test('in a pool with two slots, one team may take both', () => {
  const slots = new Slots()
  slots.open(runner({ slots: 2 }))
  slots.grant('s', 2)
  slots.hold('default', 'a')
  expect(takeUpTo(slots, 2).map(({ sessionId }) => sessionId)).toEqual(['s', 's'])
})

test('the slots of a runner that went are gone with it', () => {
  const slots = new Slots()
  slots.open(runner({ slots: 3 }))
  slots.grant('s', 3)
  const slot = slots.take('default', 'a', Language.JAVASCRIPT)!
  slots.close('s')
  slots.giveBack(slot)
  expect(slots.usable(slot, 'a')).toBeUndefined()
  expect(slots.take('default', 'a', Language.JAVASCRIPT)).toBeUndefined()
})

test('a slot that was taken before its runner came again does not count on top of what it grants now', () => {
  const slots = new Slots()
  slots.open(runner())
  slots.grant('s', 4)
  const [unused, used] = takeUpTo(slots, 2) as [Slot, Slot]
  slots.open(runner())
  slots.grant('s', 4)
  slots.giveBack(unused)
  expect(slots.credit('default')).toBe(4)
  const now = slots.usable(used, 'a')!
  expect(slots.credit('default')).toBe(3)
  slots.giveBack(now)
  expect(slots.credit('default')).toBe(4)
  for (const team of ['b', 'c', 'd', 'e']) takeUpTo(slots, 1, team)
  expect(slots.usable(used, 'a')).toBeUndefined()
})

test('teams come in turn, whatever the order in which they have queued', () => {
  const backlog = new Backlog()
  for (const team of ['a', 'a', 'b', 'c', 'a']) backlog.add('default', team)
  const served = [1, 2, 3, 4, 5, 6].map(() => {
    const [team] = backlog.turns('default', 64) as [string]
    backlog.served('default', team)
    return team
  })
  expect(served).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
  expect(backlog.turns('default', 2)).toEqual(['a', 'b'])
})

test('the team with the fewest runs in flight comes first, and of such the one that has waited longest', () => {
  const backlog = new Backlog()
  for (const team of ['a', 'b', 'c', 'd']) backlog.add('default', team)
  const runs = new Map([
    ['a', 3],
    ['b', 1],
    ['d', 1],
  ])
  const inFlight = (team: string) => runs.get(team) ?? 0
  expect(backlog.turns('default', 4, { inFlight })).toEqual(['c', 'b', 'd', 'a'])
  backlog.served('default', 'b')
  expect(backlog.turns('default', 3, { inFlight })).toEqual(['c', 'd', 'b'])
})

test('a team without a free slot is left out until one comes free', () => {
  const backlog = new Backlog()
  backlog.add('default', 'a')
  backlog.turns('default', 1)
  backlog.reachedLimit('default', 'a')
  expect(backlog.turns('default', 1)).toEqual([])
  expect(backlog.slotFreed('a')).toEqual(['default'])
  expect(backlog.turns('default', 1)).toEqual(['a'])
})

test('what is queued while a turn is taken is not forgotten', () => {
  const backlog = new Backlog()
  backlog.add('default', 'a')
  backlog.turns('default', 1)
  backlog.add('default', 'a')
  backlog.wasEmpty('default', 'a')
  expect(backlog.has('default', 'a', Language.JAVASCRIPT)).toBe(true)
  backlog.turns('default', 1)
  backlog.wasEmpty('default', 'a')
  expect(backlog.has('default', 'a', Language.JAVASCRIPT)).toBe(false)
})

test('newer runs wait for older ones that had no slot, but not for such as waited only behind others', () => {
  const backlog = new Backlog()
  const waits = () => backlog.has('default', 'a', Language.JAVASCRIPT)
  backlog.queued('default', 'a', Language.JAVASCRIPT)
  expect(waits()).toBe(true)
  backlog.turns('default', 1)
  backlog.queued('default', 'a', Language.JAVASCRIPT, true)
  backlog.wasEmpty('default', 'a')
  expect(waits()).toBe(false)
  // It is still to be claimed.
  expect(backlog.turns('default', 1)).toEqual(['a'])
  backlog.queued('default', 'a', Language.JAVASCRIPT)
  backlog.wasEmpty('default', 'a')
  expect(waits()).toBe(true)
})

test('a slot of a team that comes free says nothing of its queue', () => {
  const backlog = new Backlog()
  backlog.add('default', 'a')
  backlog.turns('default', 1)
  backlog.slotFreed('a')
  backlog.reachedLimit('default', 'a')
  expect(backlog.turns('default', 1)).toEqual(['a'])
  backlog.slotFreed('a')
  backlog.wasEmpty('default', 'a')
  expect(backlog.pools()).toEqual([])
})

test('others are told once of what was queued here, and not while the team is at its limit', () => {
  const backlog = new Backlog()
  backlog.add('default', 'heard of')
  backlog.queued('default', 'a', Language.JAVASCRIPT)
  expect(backlog.unnotified('default')).toEqual(['a'])
  expect(backlog.unnotified('default')).toEqual([])
  backlog.queued('default', 'a', Language.JAVASCRIPT)
  backlog.turns('default', 2)
  backlog.reachedLimit('default', 'a')
  backlog.queued('default', 'a', Language.JAVASCRIPT)
  expect(backlog.unnotified('default')).toEqual([])
  backlog.slotFreed('a')
  expect(backlog.unnotified('default')).toEqual(['a'])
})

test('of a slot that comes free is told each replica that awaits it, once', () => {
  const awaited = new AwaitedSlots()
  const used = () => true
  const unused = () => false
  awaited.add('a', 'first', 'begin', 0, unused)
  awaited.add('a', 'first', 'begin', 0, unused)
  awaited.add('a', 'second', 'go on', 0, unused)
  awaited.add('b', 'third', 'begin', 0, unused)
  expect(awaited.freed('a', used, 1)).toEqual(['second'])
  expect(awaited.freed('a', used, 1)).toEqual([])
  expect(awaited.freed('a', unused, 1)).toEqual(['first'])
  expect(awaited.freed('a', unused, 1)).toEqual([])
  expect(awaited.freed('b', unused, 60_000)).toEqual([])
})

test('of a slot that came free while the message that it is awaited was on its way, its replica is told at once', () => {
  const awaited = new AwaitedSlots()
  const used = () => true
  const unused = () => false
  expect(awaited.add('a', 'first', 'begin', 0, unused)).toBe(false)
  expect(awaited.freed('a', unused, 1)).toEqual(['first'])
  expect(awaited.freed('a', unused, 2)).toEqual([])
  expect(awaited.add('a', 'first', 'begin', 3, used)).toBe(false)
  expect(awaited.add('a', 'second', 'go on', 3, used)).toBe(true)
  // Once for each slot.
  expect(awaited.add('a', 'third', 'go on', 3, unused)).toBe(false)
  expect(awaited.freed('a', unused, 4)).toEqual(['first', 'third'])
  expect(awaited.freed('b', unused, 5)).toEqual([])
  expect(awaited.add('b', 'first', 'begin', 60_000, unused)).toBe(false)
})

const specOf = (team: string, bytes: number) => create(RunSpecSchema, { team, sourceCode: 'x'.repeat(bytes) })
const kib = 1024

test('a runner has every spec that it is given a run with, and no more bytes of them than there is room for', () => {
  const given = fc.record({
    team: fc.constantFrom(...teams),
    n: fc.integer({ min: 0, max: 9 }),
    size: fc.integer({ min: 1, max: 30 }),
  })
  fc.assert(
    fc.property(fc.array(given, { maxLength: 80 }), (specs) => {
      const cache = new RunSpecCache({ maxBytes: 100 * kib, teamMaxBytes: 40 * kib })
      const there = new Map<string, { team: string; size: number }>()
      for (const { team, n, size } of specs) {
        const key = `${team} ${n} ${size}`
        for (const message of cache.put(key, specOf(team, size * kib)))
          if (message.case === 'putSpec') there.set(message.value.key, { team, size })
          else expect(there.delete(message.value.key)).toBe(true)
        expect(there.has(key)).toBe(true)
        const held = (some = '') =>
          [...there.values()].reduce((sum, one) => sum + (one.team === some || some === '' ? one.size : 0), 0)
        expect(held()).toBeLessThanOrEqual(100)
        expect(held(team)).toBeLessThanOrEqual(40)
      }
    }),
  )
})

test('a team with many specs drives none of another off a runner', () => {
  const cache = new RunSpecCache({ maxBytes: 100 * kib, teamMaxBytes: 80 * kib })
  for (const name of ['first', 'second']) cache.put(`a ${name}`, specOf('a', 10 * kib))
  for (let n = 0; n < 50; n++) cache.put(`b ${n}`, specOf('b', 10 * kib))
  expect(['first', 'second'].map((name) => cache.put(`a ${name}`, specOf('a', 10 * kib)))).toEqual([[], []])
})
