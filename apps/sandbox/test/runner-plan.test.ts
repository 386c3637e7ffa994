import fc from 'fast-check'
import { expect, test } from 'vitest'
import { longerPause, noPause } from '../src/runner-pods/pause.ts'
import { plan, type PoolLimits, type RunnerPod, type RunnerState } from '../src/runner-pods/plan.ts'

const limits: PoolLimits = { spare: 1, most: 4, mostPerTeam: 2, idleMs: 60_000, startTimeoutMs: 30_000 }

let count = 0
function pod(session?: Partial<RunnerState>, more: Partial<RunnerPod> = {}): RunnerPod {
  const name = `runner-${count++}`
  const base = { name, uid: name, createdAt: count, deleting: false, outdated: false, silentMs: 0, wasHeard: true }
  const state = session && { team: '', slots: 4, running: 0, idleMs: 0, ...session }
  return { ...base, session: state, ...more }
}

const planned = (pods: RunnerPod[], waiting: string[] = [], more: Partial<PoolLimits> = {}, isPaused = false) => {
  const { make, remove } = plan({ pods, waiting, isPaused }, { ...limits, ...more })
  return { make, remove: remove.map((each) => each.pod) }
}

test('a spare pod is kept, and a pod that starts is one', () => {
  expect(planned([])).toEqual({ make: 1, remove: [] })
  expect(planned([pod()])).toEqual({ make: 0, remove: [] })
  expect(planned([pod({})])).toEqual({ make: 0, remove: [] })
  expect(planned([pod({ team: 'a' })])).toEqual({ make: 1, remove: [] })
})

test('each team that waits without a pod gets one, beside the spare', () => {
  expect(planned([pod({})], ['a', 'b']).make).toBe(2)
  expect(planned([pod({ team: 'a' }), pod({})], ['a', 'b']).make).toBe(1)
})

test('a team whose pods are full gets another one, up to its limit', () => {
  const full = () => pod({ team: 'a', running: 4 })
  expect(planned([full(), pod({})], ['a']).make).toBe(1)
  expect(planned([full(), full(), pod({})], ['a']).make).toBe(0)
  expect(planned([pod({ team: 'a', running: 3 }), pod({})], ['a']).make).toBe(0)
})

test('in a full pool the pod that has been idle for longest makes room, and a busy one or one of a team that waits does not', () => {
  const longest = pod({ team: 'a', idleMs: 9000 })
  const pods = [
    pod({ team: 'b', idleMs: 5000 }),
    longest,
    pod({ team: 'c', running: 1 }),
    pod({ team: 'd', idleMs: 99_000 }),
  ]
  expect(planned(pods, ['e', 'd'])).toEqual({ make: 0, remove: [longest] })
  const leaving = pods.map((each) => (each === longest ? { ...each, deleting: true } : each))
  expect(planned(leaving, ['e', 'd'])).toEqual({ make: 0, remove: [] })
})

test('a pod of a team goes that has been idle for a minute longer than its runner stays by itself', () => {
  const overdue = pod({ team: 'a', idleMs: 120_000 })
  const pods = [overdue, pod({ team: 'b', idleMs: 119_000 }), pod({ team: 'c', idleMs: 120_000, running: 1 }), pod({})]
  expect(planned(pods)).toEqual({ make: 0, remove: [overdue] })
  expect(planned(pods, ['d', 'e']).remove).toEqual([overdue])
})

test('where all are busy, a team that has several gives one, that with the fewest runs', () => {
  const least = pod({ team: 'a', running: 1 })
  const pods = [pod({ team: 'a', running: 3 }), least, pod({ team: 'b', running: 1 }), pod({ team: 'c', running: 1 })]
  expect(planned(pods, ['d']).remove).toEqual([least])
  expect(planned([...pods.slice(1), pod({ team: 'e', running: 1 })], ['d']).remove).toEqual([])
})

test('what has ended, or was not heard of for long, goes; what execution could not know of yet stays', () => {
  const ended = pod({ team: 'a' }, { end: 'exit 0' })
  const silent = pod(undefined, { silentMs: 30_000 })
  expect(planned([ended, silent, pod(undefined, { silentMs: 29_000 })])).toEqual({ make: 0, remove: [ended, silent] })
})

test('more that are nobody’s than are wanted go when they have been so for a while', () => {
  const old = pod({ idleMs: 60_000 })
  expect(planned([old, pod({ idleMs: 60_000 }), pod({ idleMs: 1000 })]).remove).toHaveLength(2)
  expect(planned([pod({ idleMs: 59_000 }), pod({ idleMs: 1 })]).remove).toEqual([])
  expect(planned([old]).remove).toEqual([])
})

test('a pod of other settings goes when another is ready in its place', () => {
  const outdated = pod({}, { outdated: true })
  expect(planned([outdated])).toEqual({ make: 1, remove: [] })
  expect(planned([outdated, pod()])).toEqual({ make: 0, remove: [] })
  expect(planned([outdated, pod({})])).toEqual({ make: 0, remove: [outdated] })
})

test('nothing is made in a pause, nor does anybody make room for it', () => {
  expect(planned([], ['a'], {}, true)).toEqual({ make: 0, remove: [] })
  const bound = ['a', 'b', 'c', 'd'].map((team) => pod({ team }))
  expect(planned(bound, ['e'], {}, true)).toEqual({ make: 0, remove: [] })
})

const teams = ['a', 'b', 'c', 'd', 'e', 'f']
const anyPod = fc
  .record({
    team: fc.constantFrom('', ...teams),
    running: fc.nat(4),
    idleMs: fc.nat(120_000),
    known: fc.boolean(),
    deleting: fc.boolean(),
    outdated: fc.boolean(),
    silentMs: fc.nat(60_000),
    end: fc.option(fc.constant('exit 1'), { nil: undefined }),
  })
  .map(({ team, running, idleMs, known, silentMs, ...more }) =>
    pod(known ? { team, running: team === '' ? 0 : running, idleMs: running > 0 ? 0 : idleMs } : undefined, {
      ...more,
      silentMs: known ? 0 : silentMs,
    }),
  )
const situations = fc.record({
  pods: fc.array(anyPod, { maxLength: 8 }),
  waiting: fc.uniqueArray(fc.constantFrom(...teams)),
  isPaused: fc.boolean(),
})

test('whatever the situation: never more pods than may be, nothing that is leaving goes twice, and no run of an only pod is disturbed', () => {
  fc.assert(
    fc.property(situations, fc.nat(3), fc.integer({ min: 1, max: 8 }), (situation, spare, most) => {
      const { make, remove } = plan(situation, { ...limits, spare: Math.min(spare, most), most })
      const atOnce = remove.filter((each) => each.atOnce).map((each) => each.pod)
      expect(make).toBeGreaterThanOrEqual(0)
      if (make > 0) expect(situation.pods.length - atOnce.length + make).toBeLessThanOrEqual(most)
      if (situation.isPaused) expect(make).toBe(0)
      expect(new Set(remove.map((each) => each.pod)).size).toBe(remove.length)
      for (const { pod: gone, atOnce: hard } of remove) {
        expect(gone.deleting).toBe(false)
        if (hard) expect(gone.end !== undefined || gone.session === undefined).toBe(true)
        else if (gone.end === undefined && (gone.session?.running ?? 0) > 0) {
          const same = situation.pods.filter(({ session }) => session?.team === gone.session!.team)
          expect(same.length).toBeGreaterThan(1)
        }
      }
    }),
  )
})

test('from any start, pods come to be enough: every team that waits gets one, as far as the maximum goes', () => {
  fc.assert(
    fc.property(situations, fc.integer({ min: 1, max: 8 }), ({ pods, waiting }, most) => {
      let there = pods.map((each) => ({ ...each }))
      const bounds = { ...limits, most }
      for (let round = 0; round < 40; round++) {
        const { make, remove } = plan({ pods: there, waiting, isPaused: false }, bounds)
        const gone = new Set(remove.map((each) => each.pod))
        // What leaves ends, what runs ends, what starts says hello and takes a team that waits.
        there = there.filter((each) => !gone.has(each) && !each.deleting)
        for (let made = 0; made < make; made++) there.push(pod())
        for (const each of there) {
          each.silentMs += each.session === undefined && each.end === undefined ? 15_000 : 0
          if (each.createdAt > 0 && each.session === undefined && each.end === undefined && !each.outdated)
            each.session = { team: '', slots: 4, running: 0, idleMs: 0 }
          if (each.session !== undefined)
            each.session = { ...each.session, running: 0, idleMs: each.session.idleMs + 15_000 }
        }
        for (const team of waiting) {
          const free = there.find(({ session }) => session?.team === '')
          if (free !== undefined && !there.some(({ session }) => session?.team === team)) free.session!.team = team
        }
      }
      const served = waiting.filter((team) => there.some(({ session }) => session?.team === team))
      expect(served.length).toBeGreaterThanOrEqual(Math.min(waiting.length, most))
      expect(there.length).toBeLessThanOrEqual(Math.max(most, pods.length))
    }),
  )
})

test('each pause is twice as long as the one before, up to five minutes; those that fail together count once', () => {
  const first = longerPause(noPause, 'no image', 1000)
  expect(first).toEqual({ failures: 1, untilMs: 3000, why: 'no image' })
  expect(longerPause(first, 'again', 2000)).toEqual({ failures: 1, untilMs: 3000, why: 'again' })
  expect(longerPause(first, 'later', 3000)).toEqual({ failures: 2, untilMs: 7000, why: 'later' })
  let pause = first
  for (let time = 0; time < 20; time++) pause = longerPause(pause, 'later', pause.untilMs)
  expect(longerPause(pause, 'later', pause.untilMs).untilMs - pause.untilMs).toBe(300_000)
})
