import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCron, type Cron } from '../src/cron/cron.ts'
import { nextDue } from '../src/cron/next-due.ts'

const from = Date.parse('2026-01-01T00:00:00Z')
const until = Date.parse('2028-01-01T00:00:00Z')
const dayMs = 86_400_000
const stepMs = 900_000

/** The instants within two years at which the clocks of a zone jump. */
function jumps(zone: string): number[] {
  const found: number[] = []
  let at = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(zone)
  for (;;) {
    const next = at.getTimeZoneTransition('next')
    if (next === null || next.epochMilliseconds >= until) return found
    found.push(next.epochMilliseconds)
    at = next
  }
}

interface Shown {
  instant: number
  /** What the clocks show, as if it were UTC. */
  local: number
}

/** What the clocks of a zone show at each quarter of an hour. */
function quarters(zone: string, start: number, end: number): Shown[] {
  const shown: Shown[] = []
  for (let instant = start; instant < end; instant += stepMs) {
    const { offsetNanoseconds } = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone)
    shown.push({ instant, local: instant + offsetNanoseconds / 1e6 })
  }
  return shown
}

function matches({ minutes, hours }: Cron, local: number): boolean {
  const date = new Date(local)
  return minutes.includes(date.getUTCMinutes()) && hours.includes(date.getUTCHours())
}

/** By the rule itself: which instants count, from what the clocks show. */
function expected(cron: Cron, shown: Shown[]): number[] {
  if (cron.everyRealHour) return shown.filter(({ local }) => matches(cron, local)).map(({ instant }) => instant)
  const due = new Set<number>()
  let furthest = shown[0]!.local - stepMs
  for (const { instant, local } of shown) {
    for (let skipped = furthest + stepMs; skipped < local; skipped += stepMs)
      if (matches(cron, skipped)) due.add(instant)
    if (local > furthest && matches(cron, local)) due.add(instant)
    furthest = Math.max(furthest, local)
  }
  return [...due]
}

const quarter = fc.uniqueArray(fc.constantFrom(0, 15, 30, 45), { minLength: 1 })
const hour = fc.oneof(
  fc.constantFrom('*', '*/2', '*/3', '1-5/2'),
  fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 8 }).map(String),
)
const crons = fc.tuple(quarter, hour).map(([minutes, hours]) => `${minutes.join(',')} ${hours} * * *`)

test('around each jump of the clocks in two years, in all zones, the rule holds', { timeout: 120_000 }, () => {
  const zones = Intl.supportedValuesOf('timeZone').filter((zone) => jumps(zone).length > 0)
  expect(zones.length).toBeGreaterThan(100)
  const windows = new Map(
    zones.flatMap((zone) =>
      jumps(zone).map(
        (jump) => [`${zone} ${jump}`, { zone, shown: quarters(zone, jump - dayMs, jump + dayMs) }] as const,
      ),
    ),
  )
  for (const { zone, shown } of windows.values()) {
    const [start, end] = [shown[0]!.instant, shown.at(-1)!.instant]
    fc.assert(
      fc.property(crons, (text) => {
        const cron = parseCron(text)
        const due: number[] = []
        for (
          let time = nextDue(cron, zone, start - 1);
          time !== undefined && time <= end;
          time = nextDue(cron, zone, time)
        )
          due.push(time)
        expect(due).toEqual(expected(cron, shown))
      }),
      { numRuns: 4, seed: start % 2 ** 31 },
    )
  }
})

test('in two years a daily cron is due once a day in every zone', { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
      (zone, hours, minutes) => {
        const cron = parseCron(`${minutes} ${hours} * * *`)
        let [count, time] = [0, nextDue(cron, zone, from)]
        while (time !== undefined && time < until) {
          count += 1
          time = nextDue(cron, zone, time)
        }
        expect(count).toBeGreaterThanOrEqual(729)
        expect(count).toBeLessThanOrEqual(731)
      },
    ),
    { numRuns: 300, seed: 7 },
  )
})
