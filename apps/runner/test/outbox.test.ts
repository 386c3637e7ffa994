import { expect, test } from 'vitest'
import { Outbox } from '../src/session/outbox.ts'

test('an outbox knows how much of what was put in nobody has read', async () => {
  const outbox = new Outbox<string>((text) => text.length)
  for (const text of ['abc', 'de']) outbox.push(text)
  expect(outbox.unread).toBe(5)
  const reader = outbox[Symbol.asyncIterator]()
  await reader.next()
  await reader.next()
  expect(outbox.unread).toBe(2)
  outbox.close()
  expect((await reader.next()).done).toBe(true)
  expect(outbox.unread).toBe(0)
})
