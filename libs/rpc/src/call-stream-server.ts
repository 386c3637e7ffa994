import { EventEmitter } from 'node:events'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import {
  CallService,
  CarryRequestSchema,
  CarryResponseSchema,
  type AnswerSchema,
  type Call,
  type CarryRequest,
} from '@automation/contract/wire/v1/calls'
import type { Metadata, Server, ServerDuplexStream, StatusObject } from '@grpc/grpc-js'
import { besideBytes, frameBytes } from './call-stream.ts'
import { decoder, encoder, serviceDefinition } from './definition.ts'
import { encoded, trailer } from './failure-trailer.ts'
import { metadataOf } from './metadata.ts'
import { gated, usualWaitingBytes } from './received.ts'
import { absent, malformed, statusFromFailure, tooLarge } from './status.ts'

const decode = decoder(CarryRequestSchema)
const encode = encoder(CarryResponseSchema)

/** The part of a unary call of grpc-js that handlers look at. */
export interface UnaryCall extends EventEmitter {
  readonly metadata: Metadata
  readonly request: Uint8Array
  readonly cancelled: boolean
  getDeadline(): Date | number
}

export type UnaryHandler = (
  call: UnaryCall,
  callback: (error: Partial<StatusObject> | null, response?: Buffer) => void,
) => void

/** Answers unary calls that come over one stream, by the handlers that those of gRPC have, by path. */
export function addCallStreams(
  server: Server,
  handlers: ReadonlyMap<string, UnaryHandler>,
  maxMessageBytes: number,
): { stop(): void } {
  const open = new Set<CallsOfStream>()
  let isStopping = false
  server.addService(serviceDefinition(CallService), {
    carry: (stream: ServerDuplexStream<Buffer, Buffer>) => {
      const calls = new CallsOfStream(stream, handlers, maxMessageBytes, () => open.delete(calls))
      open.add(calls)
      if (isStopping) calls.stop()
    },
  })
  return {
    /** Each stream takes no more calls, and ends with the last answer. */
    stop: () => {
      isStopping = true
      for (const calls of open) calls.stop()
    },
  }
}

class CarriedCall extends EventEmitter implements UnaryCall {
  readonly metadata: Metadata
  readonly request: Uint8Array
  readonly #deadlineMs: number
  cancelled = false

  constructor({ request, authorization, requestId, traceparent, timeoutMs }: Call) {
    super()
    this.metadata = metadataOf(authorization, { requestId, traceparent })
    this.request = request
    this.#deadlineMs = Date.now() + timeoutMs
  }

  getDeadline(): number {
    return this.#deadlineMs
  }

  cancel(): void {
    this.cancelled = true
    this.emit('cancelled')
  }
}

class CallsOfStream {
  readonly #stream: ServerDuplexStream<Buffer, Buffer>
  readonly #handlers: ReadonlyMap<string, UnaryHandler>
  readonly #maxMessageBytes: number
  readonly #whenOver: () => void
  readonly #open = new Map<number, CarriedCall>()
  readonly #source: ReturnType<typeof gated>
  #answers: MessageInitShape<typeof AnswerSchema>[] = []
  #bytes = 0
  #unsentBytes = 0
  #isPlanned = false
  #isStopping = false

  constructor(
    stream: ServerDuplexStream<Buffer, Buffer>,
    handlers: ReadonlyMap<string, UnaryHandler>,
    maxMessageBytes: number,
    whenOver: () => void,
  ) {
    this.#stream = stream
    this.#handlers = handlers
    this.#maxMessageBytes = maxMessageBytes
    this.#whenOver = whenOver
    this.#source = gated(stream, () => this.#unsentBytes < usualWaitingBytes)
    stream.on('data', (bytes: Buffer) => this.#receive(bytes))
    stream.on('end', () => this.#endIfDone())
    stream.on('cancelled', () => this.#cut())
    stream.on('error', () => this.#cut())
  }

  stop(): void {
    if (this.#isStopping) return
    this.#isStopping = true
    this.#send({ stopping: true })
    this.#endIfDone()
  }

  #receive(bytes: Buffer): void {
    // What comes after the end is answered by it: nothing was done.
    if (this.#stream.writableEnded) return
    let frame: CarryRequest
    try {
      frame = decode(bytes) as CarryRequest
    } catch (error) {
      return this.#refuse(error)
    }
    if (frame.calls.length * besideBytes > frameBytes(this.#maxMessageBytes) + besideBytes)
      return this.#refuse(`${frame.calls.length} calls in one message`)
    for (const call of frame.calls) this.#take(call)
    for (const number of frame.cancelled) {
      this.#open.get(number)?.cancel()
      this.#close(number)
    }
  }

  #take(call: Call): void {
    const { number, path } = call
    if (this.#isStopping) return this.#answer({ number, refused: true })
    const handler = this.#handlers.get(path)
    if (handler === undefined) return this.#answer({ number, failure: encoded(absent()) })
    // Two calls under one number could not be told apart.
    if (this.#open.has(number)) return this.#refuse(number)
    const carried = new CarriedCall(call)
    this.#open.set(number, carried)
    handler(carried, (error, response) => {
      // Its caller is gone.
      if (!this.#open.has(number)) return
      const failure = error === null ? undefined : (error.metadata!.get(trailer)[0] as Buffer)
      if (failure !== undefined) this.#finish({ number, failure })
      else if (response!.length > this.#maxMessageBytes) this.#finish({ number, failure: encoded(tooLarge()) })
      else this.#respond(number, response!)
    })
  }

  /** A large message goes in parts, each when the one before is on its way, so that others' answers pass between them. */
  #respond(number: number, message: Buffer): void {
    const partBytes = frameBytes(this.#maxMessageBytes) - besideBytes
    if (message.length <= partBytes) return this.#finish({ number, response: message })
    const [response, rest] = [message.subarray(0, partBytes), message.subarray(partBytes)]
    this.#write()
    this.#answers.push({ number, response, hasMore: true })
    this.#write(() => this.#open.has(number) && this.#respond(number, rest))
  }

  #finish(answer: MessageInitShape<typeof AnswerSchema>): void {
    this.#answer(answer)
    this.#close(answer.number!)
  }

  #close(number: number): void {
    this.#open.delete(number)
    this.#endIfDone()
  }

  #answer(answer: MessageInitShape<typeof AnswerSchema>): void {
    const size = (answer.response?.length ?? 0) + (answer.failure?.length ?? 0) + besideBytes
    if (this.#bytes + size > frameBytes(this.#maxMessageBytes)) this.#write()
    this.#answers.push(answer)
    this.#bytes += size
    if (this.#isPlanned) return
    this.#isPlanned = true
    // The rest of this turn may add more.
    queueMicrotask(() => {
      this.#isPlanned = false
      this.#write()
      this.#endIfDone()
    })
  }

  #write(written?: () => void): void {
    if (this.#answers.length === 0) return
    const answers = this.#answers
    this.#answers = []
    this.#bytes = 0
    this.#send({ answers }, written)
  }

  #send(message: MessageInitShape<typeof CarryResponseSchema>, written?: () => void): void {
    if (this.#stream.destroyed || this.#stream.writableEnded) return
    const bytes = encode(create(CarryResponseSchema, message))
    // A part is of a message that is held in any case, and would keep others from being taken until all of it is sent.
    const weight = written === undefined ? bytes.length : 0
    this.#unsentBytes += weight
    this.#stream.write(bytes, () => {
      this.#unsentBytes -= weight
      this.#source.goOn()
      written?.()
    })
  }

  /** What came is no message of ours. */
  #refuse(cause: unknown): void {
    this.#stream.emit('error', statusFromFailure(malformed('invalid_argument', cause)))
  }

  #endIfDone(): void {
    if ((!this.#isStopping && !this.#stream.readableEnded) || this.#open.size > 0 || this.#answers.length > 0) return
    this.#stream.end()
    this.#whenOver()
  }

  /** The caller is gone. */
  #cut(): void {
    this.#whenOver()
    const open = [...this.#open.values()]
    this.#open.clear()
    this.#answers = []
    for (const call of open) call.cancel()
  }
}
