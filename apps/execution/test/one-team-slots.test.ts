import { Language } from '@automation/contract/common/v1/language'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allLanguages } from '../src/dispatch/languages.ts'
import { Slots, type Slot } from '../src/dispatch/slots.ts'

const teams = ['a', 'b', 'c']
const sessions = ['s1', 's2', 's3']

function slotsOf(...oneTeam: string[]): Slots {
  const slots = new Slots()
  for (const sessionId of oneTeam)
    slots.open({ sessionId, pool: 'default', slots: 8, oneTeam: true, languages: allLanguages })
  return slots
}

test("a runner that is nobody's is the team's that takes its slot, and nobody's again when that comes back", () => {
  const slots = slotsOf('s1')
  slots.grant('s1', 1)
  const slot = slots.take('default', 'a', Language.JAVASCRIPT)!
  expect(slot.sessionId).toBe('s1')
  expect(slots.isUnserved('default', 'b', allLanguages)).toBe(true)
  slots.giveBack(slot)
  expect(slots.isUnserved('default', 'b', allLanguages)).toBe(false)
  expect(slots.take('default', 'b', Language.JAVASCRIPT)?.sessionId).toBe('s1')
})

test('a runner of another team is never given', () => {
  const slots = slotsOf('s1')
  slots.grant('s1', 4, 'a')
  expect(slots.take('default', 'b', Language.JAVASCRIPT)).toBeUndefined()
  expect(slots.hasForRun('default', 'b', Language.JAVASCRIPT)).toBe(false)
  expect(slots.whyNone('default', 'b', Language.JAVASCRIPT)).toBe(
    'the runners of the pool default serve one team each, and all serve other teams',
  )
  expect(slots.take('default', 'a', Language.JAVASCRIPT)?.sessionId).toBe('s1')
  expect(slots.whyNone('default', 'a', Language.JAVASCRIPT)).toBeUndefined()
})

test("a team that has a runner leaves the last one that is nobody's to others", () => {
  const slots = slotsOf('s1', 's2', 's3')
  slots.grant('s1', 0, 'a')
  for (const sessionId of ['s2', 's3']) slots.grant(sessionId, 1)
  expect(slots.take('default', 'a', Language.JAVASCRIPT)).toBeDefined()
  expect(slots.take('default', 'a', Language.JAVASCRIPT)).toBeUndefined()
  expect(slots.take('default', 'b', Language.JAVASCRIPT)).toBeDefined()
})

test.each([false, true])(
  "runners that are nobody's are first for teams that have none; one has a runner in doubt: %s",
  (isInDoubt) => {
    const slots = slotsOf('s1', 's2', 's3')
    slots.grant('s1', 0, 'a')
    slots.doubt('s1', isInDoubt)
    for (const sessionId of ['s2', 's3']) slots.grant(sessionId, 1)
    const portions = [...slots.portions('default', () => ['a', 'b', 'c'], 10)]
    expect(portions.map((portion) => portion.teams)).toEqual([['b'], ['c']])
  },
)

test('a team that has as many runners as it may takes no further one; one that is leaving does not count', () => {
  const slots = new Slots()
  for (const sessionId of ['s1', 's2', 's3', 's4'])
    slots.open({ sessionId, pool: 'default', slots: 8, oneTeam: true, teamMaxRunners: 2, languages: allLanguages })
  slots.grant('s1', 0, 'a')
  for (const sessionId of ['s2', 's3', 's4']) slots.grant(sessionId, 1)
  expect(slots.take('default', 'a', Language.JAVASCRIPT)).toBeDefined()
  expect(slots.take('default', 'a', Language.JAVASCRIPT)).toBeUndefined()
  slots.drain('s1', () => undefined)
  expect(slots.take('default', 'a', Language.JAVASCRIPT)).toBeDefined()
})

test('a team whose only runner is leaving takes the last one that is left', () => {
  const slots = slotsOf('s1', 's2')
  slots.grant('s1', 0, 'a')
  slots.grant('s2', 1)
  slots.drain('s1', () => undefined)
  expect(slots.take('default', 'a', Language.JAVASCRIPT)?.sessionId).toBe('s2')
})

test('one team may take all slots of its own runner: none are kept for newcomers', () => {
  const slots = slotsOf('s1')
  slots.grant('s1', 8, 'a')
  slots.hold('default', 'a')
  expect([...slots.portions('default', () => ['a'], 256)].flatMap((portion) => portion.slots)).toHaveLength(8)
})

test("a slot that was taken for a team is of no use once its runner is another team's", () => {
  const slots = slotsOf('s1')
  slots.grant('s1', 1)
  const slot = slots.take('default', 'a', Language.JAVASCRIPT)!
  slots.close('s1')
  slots.open({ sessionId: 's1', pool: 'default', slots: 8, oneTeam: true, languages: allLanguages })
  expect(slots.usable(slot, 'a')).toBeUndefined()
  slots.grant('s1', 7, 'b')
  expect(slots.usable(slot, 'a')).toBeUndefined()
  expect(slots.credit('default')).toBe(7)
  slots.grant('s1', 0)
})

test("a slot that was taken for a team serves it over a new stream, while the runner is nobody's", () => {
  const slots = slotsOf('s1')
  slots.grant('s1', 1)
  const slot = slots.take('default', 'a', Language.JAVASCRIPT)!
  slots.open({ sessionId: 's1', pool: 'default', slots: 8, oneTeam: true, languages: allLanguages })
  slots.grant('s1', 1)
  expect(slots.usable(slot, 'a')?.sessionId).toBe('s1')
  expect(slots.credit('default')).toBe(0)
  expect(slots.take('default', 'b', Language.JAVASCRIPT)).toBeUndefined()
})

test("teams that wait are given runners that are nobody's in turn, one each, and none of another team", () => {
  const slots = slotsOf(...sessions)
  slots.open({ sessionId: 'shared', pool: 'default', slots: 2, oneTeam: false, languages: allLanguages })
  slots.grant('s1', 3, 'a')
  slots.grant('s2', 1)
  slots.grant('shared', 2)
  const portions = [...slots.portions('default', () => teams, 256)]
  const shown = portions.map((portion) => [
    portion.teams.join(),
    portion.slots.map(({ sessionId }) => sessionId).join(),
  ])
  expect(shown).toEqual([
    ['a', 's1,s1,s1'],
    ['a,b,c', 'shared,shared'],
    ['b', 's2'],
  ])
})

type Step = { session: string; team: string; do: 'take' | 'giveBack' | 'run' | 'again' | 'grant' }
const steps = fc.array(
  fc.record({
    do: fc.constantFrom<Step['do'][]>('take', 'giveBack', 'run', 'again', 'grant'),
    session: fc.constantFrom(...sessions),
    team: fc.constantFrom(...teams),
  }),
  { maxLength: 80 },
)

test('whatever comes back or breaks, a runner of one team gets runs of one team only', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const slots = slotsOf(...sessions)
      /** What the runners themselves know: whose they are, and how many slots they have granted. */
      const runners = new Map(sessions.map((id) => [id, { team: undefined as string | undefined, granted: 0 }]))
      const taken: { slot: Slot; team: string }[] = []
      for (const { do: what, session, team } of script) {
        const runner = runners.get(session)!
        if (what === 'take') {
          const slot = slots.take('default', team, Language.JAVASCRIPT)
          if (slot !== undefined) taken.push({ slot, team })
        } else if (what === 'giveBack' && taken.length > 0) slots.giveBack(taken.pop()!.slot)
        else if (what === 'run' && taken.length > 0) {
          const { slot, team: its } = taken.shift()!
          if (slots.usable(slot, its) === undefined) continue
          const receiver = runners.get(slot.sessionId)!
          expect(receiver.team ?? its).toBe(its)
          receiver.team = its
          receiver.granted -= 1
          expect(receiver.granted).toBeGreaterThanOrEqual(0)
        } else if (what === 'again') {
          slots.open({ sessionId: session, pool: 'default', slots: 8, oneTeam: true, languages: allLanguages })
          runner.granted = 0
        } else if (what === 'grant') {
          const more = runner.team === undefined ? 1 - runner.granted : 2
          runner.granted += more
          if (more > 0) slots.grant(session, more, runner.team)
        }
      }
    }),
  )
})

test('where no team has its turn, no slot is taken', () => {
  const slots = new Slots()
  slots.open({ sessionId: 's', pool: 'default', slots: 8, oneTeam: false, languages: allLanguages })
  slots.grant('s', 8)
  expect([...slots.portions('default', () => [], 256)]).toEqual([])
  expect(slots.credit('default')).toBe(8)
})

test('a pod has one slot to give until it is bound, whatever it grants and says, and then those that it has granted', () => {
  const slots = new Slots()
  slots.open({ sessionId: 'p', pool: 'default', slots: 8, oneTeam: true, isPod: true, languages: allLanguages })
  slots.grant('p', 8, 'b')
  expect(slots.credit('default')).toBe(1)
  const slot = slots.take('default', 'a', Language.JAVASCRIPT)!
  slots.grant('p', 1)
  for (const team of teams) expect(slots.take('default', team, Language.JAVASCRIPT)).toBeUndefined()
  slots.giveBack(slot)
  expect(slots.take('default', 'c', Language.JAVASCRIPT)).toBeDefined()
  slots.bind('p', 'c')
  slots.grant('p', 1, 'a')
  expect(slots.credit('default')).toBe(9)
  expect(slots.take('default', 'a', Language.JAVASCRIPT)).toBeUndefined()
  expect(slots.take('default', 'c', Language.JAVASCRIPT)).toBeDefined()
})
