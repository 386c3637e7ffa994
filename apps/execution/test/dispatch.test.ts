import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Backlog } from '../src/dispatch/backlog.ts'
import { Places } from '../src/dispatch/places.ts'
import { SpecShelf } from '../src/dispatch/spec-shelf.ts'

const teams = ['a', 'b', 'c']

type Step = { do: 'lend'; session: string; places: number } | { do: 'take'; team: string } | { do: 'giveBack' }
const steps = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('lend' as const),
      session: fc.constantFrom('s1', 's2'),
      places: fc.integer({ min: 1, max: 4 }),
    }),
    fc.record({ do: fc.constant('take' as const), team: fc.constantFrom(...teams) }),
    fc.record({ do: fc.constant('giveBack' as const) }),
  ),
  { maxLength: 60 },
)

test('places are never taken more often than they were lent', () => {
  fc.assert(
    fc.property(steps, (script: Step[]) => {
      const places = new Places()
      for (const session of ['s1', 's2']) places.open(session, 'default', 8)
      let free = 0
      const taken: string[] = []
      for (const step of script) {
        if (step.do === 'lend') {
          places.lend(step.session, step.places)
          free += step.places
        } else if (step.do === 'take') {
          const session = places.take('default', step.team)
          if (session === undefined) continue
          taken.push(session)
          free -= 1
        } else if (taken.length > 0) {
          places.giveBack(taken.pop()!)
          free += 1
        }
        expect(places.credit('default')).toBe(free)
        expect(free).toBeGreaterThanOrEqual(0)
      }
    }),
  )
})

test('in a pool with more than two places, the last free one goes only to a team that holds none there', () => {
  const places = new Places()
  places.open('s', 'default', 3)
  places.lend('s', 3)
  const take = (team: string) => {
    const session = places.take('default', team)
    if (session !== undefined) places.hold('default', team)
    return session
  }
  expect([take('a'), take('a'), take('a'), take('b')]).toEqual(['s', 's', undefined, 's'])
})

test('in a pool with two places, one team may take both', () => {
  const places = new Places()
  places.open('s', 'default', 2)
  places.lend('s', 2)
  places.hold('default', 'a')
  expect([places.take('default', 'a'), places.take('default', 'a')]).toEqual(['s', 's'])
})

test('the places of a runner that went are gone with it', () => {
  const places = new Places()
  places.open('s', 'default', 3)
  places.lend('s', 3)
  places.close('s')
  places.giveBack('s')
  expect(places.take('default', 'a')).toBeUndefined()
})

test('teams come in turn, whatever the order in which they have queued', () => {
  const backlog = new Backlog()
  for (const team of ['a', 'a', 'b', 'c', 'a']) backlog.add('default', team)
  expect([1, 1, 1, 1].flatMap((count) => backlog.turns('default', count))).toEqual(['a', 'b', 'c', 'a'])
  expect(backlog.turns('default', 2)).toEqual(['b', 'c'])
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
  expect(backlog.has('default', 'a')).toBe(true)
  backlog.turns('default', 1)
  backlog.wasEmpty('default', 'a')
  expect(backlog.has('default', 'a')).toBe(false)
})

test('a runner has every spec that it is given a run with, and no more than there is room for', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 80 }), (keys) => {
      const shelf = new SpecShelf(4)
      const there = new Set<string>()
      for (const key of keys) {
        for (const message of shelf.put(String(key), {} as never)) {
          if (message.case === 'putSpec') there.add(message.value.key)
          else expect(there.delete(message.value.key)).toBe(true)
        }
        expect(there.has(String(key))).toBe(true)
        expect(there.size).toBeLessThanOrEqual(4)
      }
    }),
  )
})
