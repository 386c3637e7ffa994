import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { Client } from '@automation/client'

/** A service that has the first bytes of a file as the one part of an upload, and notes what is sent to it. */
function clientOf(part: Buffer): { pas: Client; puts: string[] } {
  const puts: string[] = []
  const etag = createHash('md5').update(part).digest('hex')
  const upload = { id: 'u', name: 'a', partSize: 1000, parts: [{ number: 1, size: part.length, etag }] }
  const pas = new Client({
    ...{ url: 'http://pas.test', team: 'demo', token: 'eyJh.eyJl.c2ln' },
    fetch: (url, init) => {
      if (init!.method === 'PUT') puts.push((url as URL).pathname)
      return Promise.resolve(Response.json(upload))
    },
  })
  return { pas, puts }
}

test('a part that is there is known by its content, however long that is', async () => {
  for (let size = 0; size < 200; size += 1) {
    const content = randomBytes(size)
    const same = clientOf(content)
    await same.pas.storage.upload('a', content, { uploadId: 'u' })
    expect(same.puts, `${size} bytes`).toEqual([])
    if (size === 0) continue
    const other = clientOf(content.with(size - 1, content[size - 1]! ^ 1) as Buffer)
    await other.pas.storage.upload('a', content, { uploadId: 'u' })
    expect(other.puts, `${size} bytes`).toHaveLength(1)
  }
})
