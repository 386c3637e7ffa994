import { Language } from '@automation/contract/common/v1/language'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allLanguages } from '../src/dispatch/languages.ts'
import { Places, type Place } from '../src/dispatch/places.ts'

const teams = ['a', 'b', 'c']
const sessions = ['s1', 's2', 's3']

function placesOf(...oneTeam: string[]): Places {
  const places = new Places()
  for (const sessionId of oneTeam)
    places.open({ sessionId, pool: 'default', places: 8, oneTeam: true, languages: allLanguages })
  return places
}

test("a runner that is nobody's is the team's that takes its place, and nobody's again when that comes back", () => {
  const places = placesOf('s1')
  places.lend('s1', 1)
  const place = places.take('default', 'a', Language.JAVASCRIPT)!
  expect(place.sessionId).toBe('s1')
  expect(places.isUnserved('default', 'b', allLanguages)).toBe(true)
  places.giveBack(place)
  expect(places.isUnserved('default', 'b', allLanguages)).toBe(false)
  expect(places.take('default', 'b', Language.JAVASCRIPT)?.sessionId).toBe('s1')
})

test('a runner of another team is never given', () => {
  const places = placesOf('s1')
  places.lend('s1', 4, 'a')
  expect(places.take('default', 'b', Language.JAVASCRIPT)).toBeUndefined()
  expect(places.hasForRun('default', 'b', Language.JAVASCRIPT)).toBe(false)
  expect(places.whyNone('default', 'b', Language.JAVASCRIPT)).toBe(
    'the runners of the pool default serve one team each, and all serve other teams',
  )
  expect(places.take('default', 'a', Language.JAVASCRIPT)?.sessionId).toBe('s1')
  expect(places.whyNone('default', 'a', Language.JAVASCRIPT)).toBeUndefined()
})

test("a team that has a runner leaves the last one that is nobody's to others", () => {
  const places = placesOf('s1', 's2', 's3')
  places.lend('s1', 0, 'a')
  for (const sessionId of ['s2', 's3']) places.lend(sessionId, 1)
  expect(places.take('default', 'a', Language.JAVASCRIPT)).toBeDefined()
  expect(places.take('default', 'a', Language.JAVASCRIPT)).toBeUndefined()
  expect(places.take('default', 'b', Language.JAVASCRIPT)).toBeDefined()
})

test('a team that has as many runners as it may takes no further one; one that is leaving does not count', () => {
  const places = new Places()
  for (const sessionId of ['s1', 's2', 's3', 's4'])
    places.open({ sessionId, pool: 'default', places: 8, oneTeam: true, teamMaxRunners: 2, languages: allLanguages })
  places.lend('s1', 0, 'a')
  for (const sessionId of ['s2', 's3', 's4']) places.lend(sessionId, 1)
  expect(places.take('default', 'a', Language.JAVASCRIPT)).toBeDefined()
  expect(places.take('default', 'a', Language.JAVASCRIPT)).toBeUndefined()
  places.drain('s1', () => undefined)
  expect(places.take('default', 'a', Language.JAVASCRIPT)).toBeDefined()
})

test('a team whose only runner is leaving takes the last one that is left', () => {
  const places = placesOf('s1', 's2')
  places.lend('s1', 0, 'a')
  places.lend('s2', 1)
  places.drain('s1', () => undefined)
  expect(places.take('default', 'a', Language.JAVASCRIPT)?.sessionId).toBe('s2')
})

test('one team may take all places of its own runner: none are kept for newcomers', () => {
  const places = placesOf('s1')
  places.lend('s1', 8, 'a')
  places.hold('default', 'a')
  expect([...places.portions('default', () => ['a'], 256)].flatMap((portion) => portion.places)).toHaveLength(8)
})

test("a place that was taken for a team is of no use once its runner is another team's", () => {
  const places = placesOf('s1')
  places.lend('s1', 1)
  const place = places.take('default', 'a', Language.JAVASCRIPT)!
  places.close('s1')
  places.open({ sessionId: 's1', pool: 'default', places: 8, oneTeam: true, languages: allLanguages })
  expect(places.usable(place, 'a')).toBeUndefined()
  places.lend('s1', 7, 'b')
  expect(places.usable(place, 'a')).toBeUndefined()
  expect(places.credit('default')).toBe(7)
  places.lend('s1', 0)
})

test("a place that was taken for a team serves it over a new stream, while the runner is nobody's", () => {
  const places = placesOf('s1')
  places.lend('s1', 1)
  const place = places.take('default', 'a', Language.JAVASCRIPT)!
  places.open({ sessionId: 's1', pool: 'default', places: 8, oneTeam: true, languages: allLanguages })
  places.lend('s1', 1)
  expect(places.usable(place, 'a')?.sessionId).toBe('s1')
  expect(places.credit('default')).toBe(0)
  expect(places.take('default', 'b', Language.JAVASCRIPT)).toBeUndefined()
})

test("teams that wait are given runners that are nobody's in turn, one each, and none of another team", () => {
  const places = placesOf(...sessions)
  places.open({ sessionId: 'shared', pool: 'default', places: 2, oneTeam: false, languages: allLanguages })
  places.lend('s1', 3, 'a')
  places.lend('s2', 1)
  places.lend('shared', 2)
  const portions = [...places.portions('default', () => teams, 256)]
  const shown = portions.map((portion) => [
    portion.teams.join(),
    portion.places.map(({ sessionId }) => sessionId).join(),
  ])
  expect(shown).toEqual([
    ['a', 's1,s1,s1'],
    ['a,b,c', 'shared,shared'],
    ['b', 's2'],
  ])
})

type Step = { session: string; team: string; do: 'take' | 'giveBack' | 'run' | 'again' | 'lend' }
const steps = fc.array(
  fc.record({
    do: fc.constantFrom<Step['do'][]>('take', 'giveBack', 'run', 'again', 'lend'),
    session: fc.constantFrom(...sessions),
    team: fc.constantFrom(...teams),
  }),
  { maxLength: 80 },
)

test('whatever comes back or breaks, a runner of one team gets runs of one team only', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const places = placesOf(...sessions)
      /** What the runners themselves know: whose they are, and how many places they have lent. */
      const runners = new Map(sessions.map((id) => [id, { team: undefined as string | undefined, lent: 0 }]))
      const taken: { place: Place; team: string }[] = []
      for (const { do: what, session, team } of script) {
        const runner = runners.get(session)!
        if (what === 'take') {
          const place = places.take('default', team, Language.JAVASCRIPT)
          if (place !== undefined) taken.push({ place, team })
        } else if (what === 'giveBack' && taken.length > 0) places.giveBack(taken.pop()!.place)
        else if (what === 'run' && taken.length > 0) {
          const { place, team: its } = taken.shift()!
          if (places.usable(place, its) === undefined) continue
          const receiver = runners.get(place.sessionId)!
          expect(receiver.team ?? its).toBe(its)
          receiver.team = its
          receiver.lent -= 1
          expect(receiver.lent).toBeGreaterThanOrEqual(0)
        } else if (what === 'again') {
          places.open({ sessionId: session, pool: 'default', places: 8, oneTeam: true, languages: allLanguages })
          runner.lent = 0
        } else if (what === 'lend') {
          const more = runner.team === undefined ? 1 - runner.lent : 2
          runner.lent += more
          if (more > 0) places.lend(session, more, runner.team)
        }
      }
    }),
  )
})

test('where no team has its turn, no place is taken', () => {
  const places = new Places()
  places.open({ sessionId: 's', pool: 'default', places: 8, oneTeam: false, languages: allLanguages })
  places.lend('s', 8)
  expect([...places.portions('default', () => [], 256)]).toEqual([])
  expect(places.credit('default')).toBe(8)
})
