import { once } from 'node:events'
import { Client as Channel, credentials, Metadata } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { bearer, handlers, serveProbe } from './shapes.ts'

test('a stream of what is no message is refused as the fault of its sender', async () => {
  const server = await serveProbe(
    handlers({
      async *talk(requests) {
        for await (const { text } of requests) yield { text }
      },
    }),
  )
  const channel = new Channel(`127.0.0.1:${server.port}`, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('authorization', await bearer({}))
  const bytes = (sent: Buffer) => sent
  const talk = channel.makeBidiStreamRequest('/automation.probe.v1.ProbeService/Talk', bytes, bytes, metadata)
  talk.resume().write(Buffer.from([0xff, 0xff, 0xff]))
  const [error] = (await once(talk, 'error')) as [{ code: number }]
  expect(error.code).toBe(3)
  channel.close()
  await server.close(0)
})
