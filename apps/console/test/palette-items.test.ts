import { describe, expect, it } from 'vitest'
import { matchingPlaces } from '../src/rules/palette-items.ts'

describe('the palette', () => {
  const known = {
    processes: [
      { slug: 'old-orders', name: 'Old orders' },
      { slug: 'orders', name: 'Orders' },
    ],
    visits: [{ kind: 'execution' as const, id: 'e1', name: 'Orders' }],
    pages: [{ to: '/o', icon: 'list' as const, name: 'Storage', letter: 'o' }],
  }
  const id = '01a20a1f-9efb-758d-a647-21db59edb8f1'

  it('finds an id wherever it stands in what was pasted', () => {
    expect(matchingPlaces(`curl http://x/executions/${id.toUpperCase()}/logs`, known)).toMatchObject([
      { kind: 'id', id },
    ])
  })

  it('leads to the process of the name first, and searches executions last', () => {
    const found = matchingPlaces('orders', known)
    expect(found.map(({ key }) => key)).toEqual([
      'process orders',
      'process old-orders',
      'visit e1',
      'runs orders',
      'runs old-orders',
      'search',
    ])
  })

  it('takes a cron, for the process that was open last first, and no words for one', () => {
    const visits = [{ kind: 'process' as const, id: 'orders', name: 'Orders' }]
    const found = matchingPlaces('*/5 8-17 * * MON-FRI', { ...known, visits })
    expect(found.map(({ key }) => key)).toEqual(['cron orders', 'cron old-orders'])
    expect(matchingPlaces('all the words of it', known).map(({ kind }) => kind)).toEqual(['search'])
  })

  it('takes a curl command', () => {
    const found = matchingPlaces('curl http://here/api/demo/webhooks/orders', known)
    expect(found).toMatchObject([{ kind: 'call', call: { slug: 'orders', request: { method: 'GET' } } }])
  })

  it('takes the numbers of a curl command with all their digits', () => {
    const body = '{"parameters":{"id":12345678901234567890,"share":0.12345678901234567891}}'
    const [place] = matchingPlaces(`curl http://here/api/demo/rest/processes/orders/execute -d '${body}'`, known)
    expect(JSON.stringify(place)).toContain('{"id":12345678901234567890,"share":0.12345678901234567891}')
  })

  it('offers what was open last and all pages before anything is typed', () => {
    expect(matchingPlaces(' ', known).map(({ key }) => key)).toEqual(['visit e1', '/o'])
  })
})
