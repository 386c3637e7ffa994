import { describe, expect, it } from 'vitest'
import { eventReader } from '../src/rules/server-events.ts'

describe('server-sent events', () => {
  const stream = ': hello\n\nid: 7.1\nevent: execution\ndata: {"a":1}\n\n:\n\nevent: gap\ndata: {}\n\n'
  const events = [
    { id: '7.1', event: 'execution', data: '{"a":1}' },
    { id: undefined, event: 'gap', data: '{}' },
  ]

  it('are the same however the text is cut', () => {
    for (let size = 1; size <= stream.length; size += 1) {
      const read = eventReader()
      const pieces = stream.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      expect(pieces.flatMap(read)).toEqual(events)
    }
  })

  it('have several lines of data joined', () => {
    expect(eventReader()('data: a\ndata:b\n\n')).toEqual([{ id: undefined, event: 'message', data: 'a\nb' }])
  })
})
