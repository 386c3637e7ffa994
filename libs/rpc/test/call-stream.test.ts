import { once } from 'node:events'
import { create, fromBinary, toBinary, type MessageInitShape } from '@bufbuild/protobuf'
import {
  CarryRequestSchema,
  CarryResponseSchema,
  type Answer,
  type CallSchema,
} from '@automation/contract/wire/v1/calls'
import {
  Client as Channel,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type ServerDuplexStream,
} from '@grpc/grpc-js'
import { afterEach, expect, test } from 'vitest'
import { ProbeService, AnswerSchema, QuestionSchema } from './probe/probe_pb.ts'
import { bearer, call, handlers, networkTo, serveProbe, user, type ProbeHandlers } from './shapes.ts'

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

async function served(given: Partial<ProbeHandlers>): Promise<number> {
  const { port, close } = await serveProbe(handlers(given))
  opened.push(() => close(0))
  return port
}

function probeAt(...ports: number[]) {
  const network = networkTo(ports)
  opened.push(() => network.close())
  return network.client(ProbeService)
}

const asBytes = (bytes: Buffer) => bytes

test('many calls at once, large answers among them, each get their own', async () => {
  const sizes = [0, 1, 40_000, 130_000, 700_000]
  const answer = ({ number }: { number: number }) => ({ number, data: Buffer.alloc(sizes[number % 5]!, number) })
  const probe = probeAt(await served({ ask: answer }))
  const numbers = Array.from({ length: 100 }, (_, number) => number)
  const answers = await Promise.all(numbers.map((number) => probe.ask({ number }, call())))
  for (const [number, answered] of answers.entries()) {
    expect(answered.number).toBe(number)
    expect(Buffer.from(answered.data).equals(Buffer.alloc(sizes[number % 5]!, number))).toBe(true)
  }
})

test('a large answer holds up no small one', async () => {
  const order: string[] = []
  const probe = probeAt(await served({ ask: ({ text }) => ({ data: new Uint8Array(text === 'large' ? 990_000 : 1) }) }))
  await probe.ask({}, call())
  const asked = (text: string) => probe.ask({ text }, call()).then(() => order.push(text))
  await Promise.all([asked('large'), asked('small')])
  expect(order).toEqual(['small', 'large'])
})

test('many large answers hold up no call that comes behind them', async () => {
  const order: string[] = []
  const begun = Promise.withResolvers<void>()
  let answers = 0
  const answer = ({ text }: { text: string }) => {
    if ((answers += 1) === 8) begun.resolve()
    return { data: new Uint8Array(text === 'large' ? 990_000 : 1) }
  }
  const probe = probeAt(await served({ ask: answer }))
  const asked = (text: string) => probe.ask({ text }, call()).then(() => order.push(text))
  const large = Array.from({ length: 8 }, () => asked('large'))
  await begun.promise
  await Promise.all([...large, asked('small')])
  expect(order[0]).toBe('small')
})

test('large requests reach the service as well', async () => {
  const probe = probeAt(await served({ ask: ({ data }) => ({ number: data.length }) }))
  const lengths = [10, 127_000, 140_000, 900_000]
  const answers = await Promise.all(lengths.map((length) => probe.ask({ data: new Uint8Array(length) }, call())))
  expect(answers.map(({ number }) => number)).toEqual(lengths)
})

test('a call that nobody waits for any more holds up no stop, whatever its handler does', async () => {
  const begun = Promise.withResolvers<void>()
  const server = await serveProbe(handlers({ ask: () => (begun.resolve(), new Promise<never>(() => undefined)) }))
  const caller = new AbortController()
  const asked = probeAt(server.port).ask({}, call({ signal: caller.signal }))
  await begun.promise
  caller.abort()
  await expect(asked).rejects.toMatchObject({ code: 'call_cancelled' })
  const before = performance.now()
  await server.close(60_000)
  expect(performance.now() - before).toBeLessThan(30_000)
})

test('a peer of the release before, which has no such stream, is called all the same', async () => {
  const server = new Server()
  server.addService(
    {
      ask: {
        path: '/automation.probe.v1.ProbeService/Ask',
        requestStream: false,
        responseStream: false,
        requestSerialize: asBytes,
        requestDeserialize: asBytes,
        responseSerialize: asBytes,
        responseDeserialize: asBytes,
      },
    },
    {
      ask: ({ request }: { request: Buffer }, callback: (error: null, response: Buffer) => void) => {
        const { text } = fromBinary(QuestionSchema, request)
        callback(null, Buffer.from(toBinary(AnswerSchema, create(AnswerSchema, { text }))))
      },
    },
  )
  const probe = probeAt(await listening(server))
  const texts = ['one', 'two', 'three']
  const answers = await Promise.all(texts.map((text) => probe.ask({ text }, call())))
  expect(answers.map(({ text }) => text)).toEqual(texts)
  expect((await probe.ask({ text: 'four' }, call())).text).toBe('four')
})

test('a replica that says on the stream that it has done nothing, as it stops, is asked once and left alone', async () => {
  let refusals = 0
  const stopping = new Server()
  stopping.addService(
    {
      carry: {
        path: '/automation.wire.v1.CallService/Carry',
        requestStream: true,
        responseStream: true,
        requestSerialize: asBytes,
        requestDeserialize: asBytes,
        responseSerialize: asBytes,
        responseDeserialize: asBytes,
      },
    },
    {
      carry: (stream: ServerDuplexStream<Buffer, Buffer>) =>
        stream.on('data', (bytes: Buffer) => {
          const { calls } = fromBinary(CarryRequestSchema, bytes)
          refusals += calls.length
          const answers = calls.map(({ number }) => ({ number, refused: true }))
          stream.write(Buffer.from(toBinary(CarryResponseSchema, create(CarryResponseSchema, { answers }))))
        }),
    },
  )
  const probe = probeAt(await listening(stopping), await served({ ask: () => ({ text: 'done' }) }))
  for (let count = 0; count < 6; count += 1) expect((await probe.ask({}, call())).text).toBe('done')
  expect(refusals).toBe(1)
})

test('each call on the stream shows its own credentials: without, none is made', async () => {
  const seen: string[] = []
  const port = await served({
    ask: (_request, { principal }) => (seen.push(principal.name), {}),
  })
  const good = await bearer({ role: user.role, name: 'good' })
  const answers = await carried(port, [
    '',
    'Bearer x\n',
    good,
    await bearer({ exp: -120, iat: -180 }),
    'Bearer \u{1F600}',
  ])
  const codes = answers.map(({ failure }) =>
    failure === undefined ? 'answered' : (JSON.parse(Buffer.from(failure).toString()) as { code: string }).code,
  )
  expect(codes).toEqual(['unauthenticated', 'unauthenticated', 'answered', 'unauthenticated', 'unauthenticated'])
  expect(seen).toEqual(['good'])
})

test('what is no message of ours ends the stream, and the server serves on', async () => {
  const port = await served({})
  const stream = streamTo(port)
  stream.write(Buffer.from([0xff, 0xff, 0xff]))
  await expect(once(stream, 'data')).rejects.toBeDefined()
  await probeAt(port).ask({}, call())
})

test('calls are taken no faster than their answers, and none is lost by that', async () => {
  const [frames, callsOfEach, request] = [200, 400, Buffer.alloc(250)]
  const port = await served({})
  const stream = streamTo(port)
  // One that never asks for an answer would be sent all that there are, and keep them.
  stream.once('readable', () => undefined)
  let taken = 0
  for (let frame = 0; frame < frames; frame++) {
    const calls = Array.from({ length: callsOfEach }, (_, index) => ({ number: frame * callsOfEach + index, request }))
    stream.write(framed(calls), () => (taken += 1))
  }
  const probe = probeAt(port)
  for (let before = -1; taken > before;) {
    before = taken
    for (let calls = 0; calls < 300; calls++) await probe.ask({}, call())
  }
  expect(taken).toBeLessThan(frames)
  const answered = new Set<number>()
  for await (const bytes of stream) {
    for (const { number } of fromBinary(CarryResponseSchema, bytes as Buffer).answers) answered.add(number)
    if (answered.size === frames * callsOfEach) break
  }
  expect(taken).toBe(frames)
})

test('a message of more calls than a caller puts into one ends the stream', async () => {
  const stream = streamTo(await served({}))
  stream.write(framed(Array.from({ length: 1000 }, (_, number) => ({ number }))))
  await expect(once(stream, 'data')).rejects.toMatchObject({ code: status.INVALID_ARGUMENT })
})

/** The port of a server of gRPC's own. */
async function listening(server: Server): Promise<number> {
  opened.push(() => server.forceShutdown())
  return new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  )
}

/** A stream of calls, with none on it yet. */
function streamTo(port: number) {
  const channel = new Channel(`127.0.0.1:${port}`, credentials.createInsecure())
  opened.push(() => channel.close())
  return channel.makeBidiStreamRequest('/automation.wire.v1.CallService/Carry', asBytes, asBytes, new Metadata())
}

function framed(calls: MessageInitShape<typeof CallSchema>[]): Buffer {
  return Buffer.from(toBinary(CarryRequestSchema, create(CarryRequestSchema, { calls })))
}

/** Answers to one call for each authorization, all on one stream, in the order of the calls. */
async function carried(port: number, authorizations: string[]): Promise<Answer[]> {
  const stream = streamTo(port)
  const path = '/automation.probe.v1.ProbeService/Ask'
  const calls = authorizations.map((authorization, number) => ({ number, path, authorization, timeoutMs: 5000 }))
  stream.write(framed(calls))
  const answers: Answer[] = []
  for await (const bytes of stream) {
    answers.push(...fromBinary(CarryResponseSchema, bytes as Buffer).answers)
    if (answers.length === calls.length) break
  }
  return answers.toSorted((a, b) => a.number - b.number)
}
