import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { Client } from '@automation/client'

const options = { url: 'http://pas.test', team: 'demo', token: 'eyJh.eyJl.c2ln' }

test('a download that its reader leaves is cut off, also while the service is silent', async () => {
  const opened: AbortSignal[] = []
  const pas = new Client({
    ...options,
    fetch: (_, init) => {
      const signal = init!.signal!
      opened.push(signal)
      const body = new ReadableStream({
        start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
      })
      return Promise.resolve(new Response(body, { headers: { ETag: '"a"' } }))
    },
  })
  const reader = (await pas.storage.download('a')).body!.getReader()
  const read = reader.read()
  await reader.cancel()
  expect((await read).done).toBe(true)
  expect(opened.map(({ aborted }) => aborted)).toEqual([true])
})

test.each(['an iterable', 'a stream'])(
  'an upload of %s that brings nothing more ends with its signal',
  async (kind) => {
    const stop = new AbortController()
    const pas = new Client({
      ...options,
      fetch: () => Promise.resolve(Response.json({ id: 'u', name: 'a', partSize: 10 })),
    })
    async function* pieces(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(3)
      stop.abort(new Error('enough'))
      await new Promise(() => undefined)
    }
    const data =
      kind === 'a stream' ? (Readable.toWeb(Readable.from(pieces())) as ReadableStream<Uint8Array>) : pieces()
    await expect(pas.storage.upload('a', data, { signal: stop.signal })).rejects.toThrow('enough')
  },
)
