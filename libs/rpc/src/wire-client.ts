import { create, type DescMethod, type DescService, type Message } from '@bufbuild/protobuf'
import {
  Metadata,
  type Client as Channel,
  type CallOptions,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientWritableStream,
} from '@grpc/grpc-js'
import { CallChannel, notCarried } from './call-stream.ts'
import { type CallContext, defaultTimeoutMs, endOf } from './context.ts'
import { asBytes, decoder, encoder, pathOf } from './definition.ts'
import { received } from './received.ts'
import { send } from './sent.ts'
import type { Client } from './service-types.ts'
import { failureFromError } from './status.ts'
import { isBehindMove, movedUntil, noteWhetherSent, tryElsewhere, type Replicas, type Route } from './try-elsewhere.ts'

/** How calls leave this process: to which replica, and who calls. */
export interface Outgoing extends Replicas {
  metadata(context: CallContext): Metadata | Promise<Metadata>
  /** For a stream, which is not made again: a connected one, where it comes to that in time. */
  connected?(context: CallContext, route?: Route): Promise<Channel>
  /** For whom a call is, where that makes a difference. */
  routeOf?(method: DescMethod, context: CallContext): Route | undefined
  /** How much of a stream may wait for its reader; 256 KiB. */
  waitingBytes?: number
}

type Init = Record<string, unknown>

/** Calls a service over the wire. */
export function wireClient<S extends DescService>(service: S, outgoing: Outgoing): Client<S> {
  const calls = service.methods.map((method) => [method.localName, callOf(method, outgoing)])
  return Object.fromEntries(calls) as Client<S>
}

function callOf(method: DescMethod, outgoing: Outgoing): unknown {
  if (method.methodKind === 'unary') return unaryCall(method, outgoing)
  return method.methodKind === 'client_streaming' ? clientStreamCall(method, outgoing) : streamCall(method, outgoing)
}

function unaryCall(method: DescMethod, outgoing: Outgoing): unknown {
  const path = pathOf(method)
  const encode = encoder(method.input)
  const decode = decoder(method.output)
  return async (request: Init, context: CallContext): Promise<Message> => {
    const { signal } = context
    if (signal.aborted) throw endOf(signal)
    const given = outgoing.metadata(context)
    const metadata = given instanceof Metadata ? given : await given
    const options = { deadline: context.deadlineMs ?? Date.now() + defaultTimeoutMs }
    const bytes = encode(create(method.input, request))
    const alone = (channel: Channel) =>
      new Promise<Uint8Array>((resolve, reject) => {
        const cancel = () => call.cancel()
        const call = channel.makeUnaryRequest(path, asBytes, asBytes, bytes, metadata, options, (error, response) => {
          signal.removeEventListener('abort', cancel)
          if (error === null) resolve(response!)
          else reject(signal.aborted ? endOf(signal) : noteWhetherSent(failureFromError(error), call, channel))
        })
        signal.addEventListener('abort', cancel, { once: true })
      })
    const ask = async (channel: Channel) => {
      if (signal.aborted) throw endOf(signal)
      if (!(channel instanceof CallChannel)) return await alone(channel)
      try {
        return await channel.carry(path, bytes, metadata, context)
      } catch (error) {
        if (error !== notCarried) throw error
        if (signal.aborted) throw endOf(signal)
        return await alone(channel)
      }
    }
    const route = outgoing.routeOf?.(method, context)
    return decode(await tryElsewhere(method, outgoing, ask, { route, deadlineMs: options.deadline }))
  }
}

function clientStreamCall(method: DescMethod, outgoing: Outgoing): unknown {
  const path = pathOf(method)
  const decode = decoder(method.output)
  return async (requests: AsyncIterable<Init>, context: CallContext): Promise<Message> => {
    const { signal } = context
    const metadata = await outgoing.metadata(context)
    const options: CallOptions = context.deadlineMs === undefined ? {} : { deadline: context.deadlineMs }
    const route = outgoing.routeOf?.(method, context)
    const channel = await (outgoing.connected?.(context, route) ?? outgoing.channel(route))
    if (signal.aborted) throw endOf(signal)
    const answer = await new Promise<Buffer>((resolve, reject) => {
      const cancel = () => call.cancel()
      let unsent: unknown
      const answered = (error: Error | null, response?: Buffer) => {
        signal.removeEventListener('abort', cancel)
        if (error !== null)
          reject((unsent as Error | undefined) ?? (signal.aborted ? endOf(signal) : failureFromError(error)))
        else resolve(response!)
      }
      const call: ClientWritableStream<Buffer> = channel.makeClientStreamRequest(
        path,
        asBytes,
        asBytes,
        metadata,
        options,
        answered,
      )
      signal.addEventListener('abort', cancel, { once: true })
      // The callback tells what the transport has to say.
      call.on('error', () => undefined)
      send(method.input, requests, call).then(
        () => call.end(),
        (thrown: unknown) => {
          unsent = thrown
          call.cancel()
        },
      )
    })
    return decode(answer)
  }
}

type Stream = ClientReadableStream<Buffer> | ClientDuplexStream<Buffer, Buffer>

function streamCall(method: DescMethod, outgoing: Outgoing): unknown {
  const path = pathOf(method)
  const requestStream = method.methodKind === 'bidi_streaming'
  const encode = encoder(method.input)
  const decode = decoder(method.output)
  if (requestStream || outgoing.moved === undefined) return once
  return async function* (request: Init, context: CallContext): AsyncIterable<Message> {
    for (const untilMs = movedUntil(context.deadlineMs); ;) {
      let hasBegun = false
      try {
        for await (const message of once(request, context)) {
          hasBegun = true
          yield message
        }
        return
      } catch (error) {
        if (hasBegun || !(await isBehindMove(error, outgoing, untilMs))) throw error
      }
    }
  }

  async function* once(requests: Init | AsyncIterable<Init>, context: CallContext): AsyncIterable<Message> {
    const { signal } = context
    const metadata = await outgoing.metadata(context)
    const options: CallOptions = context.deadlineMs === undefined ? {} : { deadline: context.deadlineMs }
    const route = outgoing.routeOf?.(method, context)
    const channel = await (outgoing.connected?.(context, route) ?? outgoing.channel(route))
    if (signal.aborted) throw endOf(signal)
    const call = open()
    const cancel = () => call.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    let unsent: unknown
    try {
      const responses = received(call, {
        decode,
        malformed: 'internal',
        failureOf: (error) => (signal.aborted ? endOf(signal) : failureFromError(error)),
        waitingBytes: outgoing.waitingBytes,
      })
      if (requestStream)
        pump(requests as AsyncIterable<Init>, call as ClientDuplexStream<Buffer, Buffer>).catch((thrown: unknown) => {
          unsent = thrown
          call.cancel()
        })
      yield* responses
    } catch (thrown) {
      throw unsent ?? thrown
    } finally {
      signal.removeEventListener('abort', cancel)
      call.cancel()
    }

    function open(): Stream {
      if (requestStream) return channel.makeBidiStreamRequest(path, asBytes, asBytes, metadata, options)
      const request = encode(create(method.input, requests as Init))
      return channel.makeServerStreamRequest(path, asBytes, asBytes, request, metadata, options)
    }
  }

  async function pump(requests: AsyncIterable<Init>, call: ClientDuplexStream<Buffer, Buffer>): Promise<void> {
    await send(method.input, requests, call)
    call.end()
  }
}
