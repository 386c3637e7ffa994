import { describe, expect, it } from 'vitest'
import type { Execution } from '../src/api/queries/executions.ts'
import { cutPage, filtersOf, fits, readSearch, withRow } from '../src/rules/execution-filters.ts'
import { withNews } from '../src/rules/executions.ts'

const execution = (more: Partial<Execution> = {}): Execution => ({
  id: '01',
  processId: 'p',
  processName: 'Import orders',
  processSlug: 'import-orders',
  status: 'ERROR',
  timeline: {
    explanation: 'RangeError: no customer',
    events: [{ status: 'CREATED', timestamp: '2026-01-01T00:00:00Z' }],
  },
  parameters: { order: 4711 },
  settings: { timeout: 1000 },
  createdBy: 'ann',
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  origin: 'rest',
  trial: false,
  ...more,
})

describe('the filters of an address', () => {
  it('are what of it is known, whatever stands there', () => {
    const search = readSearch({ status: 'ERROR,NONSENSE', origin: 7, trial: 'yes', q: 4711, from: 'x', other: 1 })
    expect(search).toEqual({ status: 'ERROR', q: '4711' })
    expect(filtersOf(search, undefined)).toEqual({ status: ['ERROR'], q: '4711' })
  })

  it('decide for what is told live as the service does for lists', () => {
    const of = (search: Record<string, unknown>) => fits(filtersOf(readSearch(search), undefined), execution())
    expect(of({})).toBe(true)
    expect(of({ status: 'ERROR,KILLED', origin: 'rest', trial: false })).toBe(true)
    expect(of({ status: 'FINISHED' })).toBe(false)
    expect(of({ trial: true })).toBe(false)
    expect(of({ q: '4711 CUSTOMER', name: 'orders' })).toBe(true)
    expect(of({ q: '4711 parcel' })).toBe(false)
    expect(of({ from: '2026-01-01T00:00:00Z' })).toBe(true)
    expect(of({ to: '2026-01-01T00:00:00Z' })).toBe(false)
  })
})

describe('live rows', () => {
  it('stand at their place, once', () => {
    const rows = [{ id: '05' }, { id: '03' }]
    expect(withRow(rows, { id: '04' }).map(({ id }) => id)).toEqual(['05', '04', '03'])
    expect(withRow(rows, { id: '03' })).toBe(rows)
    expect(withRow(rows, { id: '01' }).at(-1)).toEqual({ id: '01' })
  })

  it('are cut to the newest, and are read on from there', () => {
    const page = { data: [{ id: '05' }, { id: '04' }, { id: '03' }], hasNextPage: false }
    expect(cutPage(page, 2)).toEqual({ data: [{ id: '05' }, { id: '04' }], hasNextPage: true, after: '04' })
  })

  it('are not set back by news that comes late, and keep what lists leave out', () => {
    const late = execution({ timeline: { events: [] }, status: 'RUNNING' })
    expect(withNews(execution(), late).status).toBe('ERROR')
    const news = execution({ status: 'KILLED', parameters: undefined })
    expect(withNews(execution(), news)).toMatchObject({ status: 'KILLED', parameters: { order: 4711 } })
  })
})
