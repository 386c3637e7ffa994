import { describe, expect, it } from 'vitest'
import { settingsInput, tagsOf } from '../src/rules/process-settings.ts'
import { localTime, newSchedule, scheduleInput, typedOf, whenOf } from '../src/rules/schedule-form.ts'

describe('a change of settings', () => {
  it('names what was typed and nothing else, and clears what was emptied', () => {
    expect(settingsInput({ name: ' a ' })).toEqual({ name: 'a' })
    expect(settingsInput({ description: '', schema: ' ', formTag: '' })).toEqual({
      description: null,
      parametersSchema: null,
      settings: { formsConfig: { tag: null } },
    })
    expect(settingsInput({ isPublic: true })).toEqual({ settings: { publicConfig: { enabled: true } } })
  })

  it('has each tag once', () => {
    expect(tagsOf('shop, big money,, shop')).toEqual(['shop', 'big money'])
  })
})

describe('a schedule that is typed', () => {
  const typed = newSchedule('Europe/Berlin', { a: 1 })

  it('is due by its cron, or by a time that has seconds', () => {
    expect(whenOf(typed)).toEqual({ cron: '0 8 * * MON-FRI' })
    expect(whenOf({ ...typed, cron: ' ' })).toBeUndefined()
    const once = { ...typed, kind: 'time', time: '2031-01-31T09:00' } as const
    expect(whenOf(once)).toEqual({ dateTime: '2031-01-31T09:00:00', zoneId: 'Europe/Berlin' })
    expect(scheduleInput(once, '2031-01-31T08:00:00Z')).toMatchObject({ cron: null, dateTime: '2031-01-31T08:00:00Z' })
  })

  it('refuses parameters that are no object', () => {
    expect(() => scheduleInput({ ...typed, parameters: [1] }, undefined)).toThrow('JSON object')
  })

  it('is typed over in the zone of the team', () => {
    expect(localTime('2031-07-31T08:00:00Z', 'Europe/Berlin')).toBe('2031-07-31T10:00:00')
    const stored = { type: 'ONE_TIME', dateTime: '2031-01-31T08:00:00Z', settings: {} } as Parameters<typeof typedOf>[0]
    expect(typedOf(stored, 'Europe/Berlin').time).toBe('2031-01-31T09:00:00')
  })
})
