import { expect, test } from 'vitest'
import { MessageQueue } from '@automation/rpc/message-queue'

test('a queue knows how much of what was pushed nobody has read', async () => {
  const queue = new MessageQueue<string>((text) => text.length)
  for (const text of ['abc', 'de']) queue.push(text)
  expect(queue.unread).toBe(5)
  const reader = queue[Symbol.asyncIterator]()
  await reader.next()
  await reader.next()
  expect(queue.unread).toBe(2)
  queue.close()
  expect((await reader.next()).done).toBe(true)
  expect(queue.unread).toBe(0)
})

test('who passes a message on waits until it is read, or nobody reads it any more', async () => {
  const queue = new MessageQueue<string>()
  const read: string[] = []
  const passed = ['a', 'b', 'c'].map((text) => queue.pass(text).then(() => read.push(text)))
  const reader = queue[Symbol.asyncIterator]()
  await reader.next()
  await reader.next()
  expect(read).toEqual(['a'])
  queue.abort(new Error('gone'))
  await expect(reader.next()).rejects.toThrow('gone')
  await Promise.all([...passed, queue.pass('d')])
  expect(read).toEqual(['a', 'c', 'b'])
})

test('a queue that is aborted after it was closed does not end as if all had been read', async () => {
  const queue = new MessageQueue<string>()
  queue.push('a')
  queue.close()
  queue.abort(new Error('gone'))
  await expect(queue[Symbol.asyncIterator]().next()).rejects.toThrow('gone')
})
