import { describe, expect, it } from 'vitest'
import {
  addDays,
  addMonths,
  clock,
  clockChange,
  inCells,
  localTime,
  mondayOf,
  overlapsIn,
  startOf,
  type Firing,
} from '../src/rules/calendar.ts'

const BERLIN = 'Europe/Berlin'
const NEW_YORK = 'America/New_York'
const at = (text: string) => Date.parse(text)

describe('days', () => {
  it('begin when the clocks of the zone say so, also where they change', () => {
    expect(startOf(BERLIN, '2026-10-25')).toBe(at('2026-10-24T22:00:00Z'))
    expect(startOf(BERLIN, '2026-10-26')).toBe(at('2026-10-25T23:00:00Z'))
    expect(startOf(NEW_YORK, '2026-03-08')).toBe(at('2026-03-08T05:00:00Z'))
    expect(startOf(NEW_YORK, '2026-03-09')).toBe(at('2026-03-09T04:00:00Z'))
    // Midnight is left out there.
    expect(startOf('Africa/Cairo', '2026-04-24')).toBe(at('2026-04-23T22:00:00Z'))
    expect(clock('Africa/Cairo', startOf('Africa/Cairo', '2026-04-24'))).toBe('01:00')
  })

  it('are counted by the calendar, not by hours', () => {
    expect(addDays('2026-03-28', 2)).toBe('2026-03-30')
    expect(mondayOf('2026-03-29')).toBe('2026-03-23')
    expect(mondayOf('2026-03-30')).toBe('2026-03-30')
    expect([addMonths('2026-01-31', 1), addMonths('2026-01-15', -1)]).toEqual(['2026-02-01', '2025-12-01'])
  })
})

describe('changes of the clocks', () => {
  it('are gaps in spring and repeats in autumn', () => {
    expect(clockChange(BERLIN, '2026-03-29')).toEqual({
      kind: 'gap',
      atMs: at('2026-03-29T01:00:00Z'),
      from: '02:00',
      to: '03:00',
    })
    expect(clockChange(BERLIN, '2026-10-25')).toEqual({
      kind: 'repeated',
      atMs: at('2026-10-25T01:00:00Z'),
      from: '02:00',
      to: '03:00',
    })
    expect(clockChange(NEW_YORK, '2026-03-08')).toMatchObject({ kind: 'gap', from: '02:00', to: '03:00' })
    expect(clockChange(NEW_YORK, '2026-11-01')).toMatchObject({
      kind: 'repeated',
      atMs: at('2026-11-01T06:00:00Z'),
      from: '01:00',
      to: '02:00',
    })
  })

  it('are none on other days and in zones that have none', () => {
    expect(clockChange(BERLIN, '2026-10-24')).toBeUndefined()
    expect(clockChange(NEW_YORK, '2026-10-25')).toBeUndefined()
    expect(clockChange('UTC', '2026-03-29')).toBeUndefined()
  })
})

describe('firings', () => {
  const firing = (scheduleId: string, nominalAt: string, state: Firing['state'] = 'coming'): Firing => ({
    scheduleId,
    processSlug: scheduleId,
    nominalAt,
    state,
  })
  const cellOf = (atMs: number) => {
    const { day, hour } = localTime(BERLIN, atMs)
    return `${day} ${hour}`
  }

  it('of an hour that comes twice are in one cell, by their schedules', () => {
    const cells = inCells(
      [
        firing('a', '2026-10-25T00:30:00Z', 'started'),
        firing('b', '2026-10-25T00:30:00Z'),
        firing('a', '2026-10-25T01:30:00Z', 'skipped'),
      ],
      cellOf,
    )
    const groups = cells.get('2026-10-25 2') ?? []
    expect([...cells.keys()]).toEqual(['2026-10-25 2'])
    expect(groups.map(({ scheduleId, firings, state }) => [scheduleId, firings.length, state])).toEqual([
      ['a', 2, 'skipped'],
      ['b', 1, 'coming'],
    ])
    expect(overlapsIn(groups)).toBe(1)
  })

  it('that are still to come are not counted among those that have been', () => {
    const cells = inCells(
      [
        firing('a', '2026-10-25T06:00:00Z', 'started'),
        firing('a', '2026-10-25T06:20:00Z'),
        firing('a', '2026-10-25T06:40:00Z'),
      ],
      cellOf,
    )
    const groups = cells.get('2026-10-25 7') ?? []
    expect(groups.map(({ firings, state }) => [firings.length, state])).toEqual([
      [1, 'started'],
      [2, 'coming'],
    ])
  })
})
