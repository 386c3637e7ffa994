import { create, type DescMethod, type DescService, type Message } from '@bufbuild/protobuf'
import {
  Metadata,
  type CallOptions,
  type Client as Channel,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientWritableStream,
} from '@grpc/grpc-js'
import { endOf } from './call-ends.ts'
import type { CallContext } from './context.ts'
import { defaultTimeoutMs } from './deadlines.ts'
import { methodDefinition } from './definition.ts'
import { received } from './received.ts'
import { send } from './sent.ts'
import type { Client } from './service-types.ts'
import { failureFromError } from './status.ts'

/** How calls leave this process: `channel` picks the connection of the next call, `metadata` says who calls. */
export interface Outgoing {
  channel(): Channel
  metadata(context: CallContext): Metadata | Promise<Metadata>
  /** How many messages of a stream may wait for their reader; 32. */
  maxWaiting?: number
}

type Init = Record<string, unknown>

/** Calls a service over the wire. */
export function wireClient<S extends DescService>(service: S, outgoing: Outgoing): Client<S> {
  const calls = service.methods.map((method) => [method.localName, callOf(method, outgoing)])
  return Object.fromEntries(calls) as Client<S>
}

function callOf(method: DescMethod, outgoing: Outgoing): unknown {
  if (method.methodKind === 'unary') return unaryCall(method, outgoing)
  return method.methodKind === 'client_streaming' ? gatheringCall(method, outgoing) : streamCall(method, outgoing)
}

function unaryCall(method: DescMethod, outgoing: Outgoing): unknown {
  const { path, requestSerialize, responseDeserialize } = methodDefinition(method)
  return async (request: Init, context: CallContext): Promise<Message> => {
    const { signal } = context
    if (signal.aborted) throw endOf(signal)
    const given = outgoing.metadata(context)
    const metadata = given instanceof Metadata ? given : await given
    const options = { deadline: context.deadlineMs ?? Date.now() + defaultTimeoutMs }
    return new Promise((resolve, reject) => {
      const cancel = () => call.cancel()
      const call = outgoing
        .channel()
        .makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          create(method.input, request),
          metadata,
          options,
          (error, response) => {
            signal.removeEventListener('abort', cancel)
            if (error !== null) reject(signal.aborted ? endOf(signal) : failureFromError(error))
            else resolve(response!)
          },
        )
      signal.addEventListener('abort', cancel, { once: true })
    })
  }
}

function gatheringCall(method: DescMethod, outgoing: Outgoing): unknown {
  const { path, requestSerialize, responseDeserialize } = methodDefinition(method)
  return async (requests: AsyncIterable<Init>, context: CallContext): Promise<Message> => {
    const { signal } = context
    if (signal.aborted) throw endOf(signal)
    const metadata = await outgoing.metadata(context)
    const options: CallOptions = context.deadlineMs === undefined ? {} : { deadline: context.deadlineMs }
    return new Promise((resolve, reject) => {
      const cancel = () => call.cancel()
      let unsent: unknown
      const call: ClientWritableStream<Message> = outgoing
        .channel()
        .makeClientStreamRequest(path, requestSerialize, responseDeserialize, metadata, options, (error, response) => {
          signal.removeEventListener('abort', cancel)
          if (error !== null)
            reject((unsent as Error | undefined) ?? (signal.aborted ? endOf(signal) : failureFromError(error)))
          else resolve(response!)
        })
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
  }
}

type Stream = ClientReadableStream<Message> | ClientDuplexStream<Message, Message>

function streamCall(method: DescMethod, outgoing: Outgoing): unknown {
  const { path, requestStream, requestSerialize, responseDeserialize } = methodDefinition(method)
  return async function* (requests: Init | AsyncIterable<Init>, context: CallContext): AsyncIterable<Message> {
    const { signal } = context
    if (signal.aborted) throw endOf(signal)
    const metadata = await outgoing.metadata(context)
    const options: CallOptions = context.deadlineMs === undefined ? {} : { deadline: context.deadlineMs }
    const call = open(metadata, options)
    const cancel = () => call.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    let unsent: unknown
    try {
      const responses = received<Message>(
        call,
        (error) => (signal.aborted ? endOf(signal) : failureFromError(error)),
        outgoing.maxWaiting,
      )
      if (requestStream)
        pump(requests as AsyncIterable<Init>, call as ClientDuplexStream<Message, Message>).catch((thrown: unknown) => {
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

    function open(sent: Metadata, callOptions: CallOptions): Stream {
      const channel = outgoing.channel()
      if (requestStream)
        return channel.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, sent, callOptions)
      const request = create(method.input, requests as Init)
      return channel.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, sent, callOptions)
    }
  }

  async function pump(requests: AsyncIterable<Init>, call: ClientDuplexStream<Message, Message>): Promise<void> {
    await send(method.input, requests, call)
    call.end()
  }
}
