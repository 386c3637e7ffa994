import { expect, test } from 'vitest'
import { StandIn } from './stand-in.ts'

const out = `${JSON.stringify({ type: 'stdout', data: 'begun\n' })}\n`

test.each([
  ['reset', out],
  ['ended in a line', `${out}{"type":"std`],
])('pas sandbox exec says that the command went with its connection, which was %s', async (how, sent) => {
  await using standIn = await StandIn.that((_, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    if (how === 'reset') response.write(sent, () => response.destroy())
    else response.end(sent)
  })
  const stderr = expect.stringContaining('The connection to the command was cut, and the command ended with it.')
  expect(await standIn.start(['sandbox', 'exec', 'a', '--', 'make']).ended).toEqual({
    ...{ code: 125, stdout: 'begun\n', stderr },
  })
})

test('pas sandbox exec prints line separators as they come', async () => {
  const data = 'a\u2028b\u2029c\n'
  await using standIn = await StandIn.that((_, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    for (const line of [
      { type: 'stdout', data },
      { type: 'exit', code: 3 },
    ])
      response.write(`${JSON.stringify(line)}\n`)
    response.end()
  })
  expect(await standIn.start(['sandbox', 'exec', 'a', '--', 'make']).ended).toEqual({
    ...{ code: 3, stdout: data, stderr: '' },
  })
})
