import { createServer } from 'node:http'
import { listening } from '@automation/testing/listening'
import { expect, test } from 'vitest'
import { Connection, headerOf, parseAnswer } from '../src/load/connection.ts'

test('an answer is taken only when it is whole, with a length or in chunks', () => {
  const plain = Buffer.from('HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello')
  expect(parseAnswer(plain.subarray(0, -1))).toBeUndefined()
  expect(parseAnswer(plain)?.answer).toMatchObject({ status: 201, body: 'hello' })
  const chunked = Buffer.from(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nHTTP',
  )
  expect(parseAnswer(chunked)).toMatchObject({ answer: { body: 'abcde' }, length: chunked.length - 4 })
  for (let length = 0; length < chunked.length - 4; length += 1)
    expect(parseAnswer(chunked.subarray(0, length))).toBeUndefined()
})

test('one connection carries many requests, and names of headers have no case', async () => {
  let served = 0
  const server = createServer((_, response) => {
    served += 1
    response.setHeader('Svc-Execution-ID', `id-${served}`)
    response.end(`${served}`)
  })
  const { port, close } = await listening(server)
  const connection = await Connection.open('127.0.0.1', port)
  const request = Buffer.from('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n')
  await connection.send(request)
  const second = await connection.send(request)
  connection.close()
  await close()
  expect(second.body).toBe('2')
  expect(headerOf(second, 'svc-execution-id')).toBe('id-2')
})
