import { create, type MessageInitShape } from '@bufbuild/protobuf'
import {
  CallService,
  CarryRequestSchema,
  CarryResponseSchema,
  type Answer,
  type CallSchema,
  type CarryResponse,
} from '@automation/contract/wire/v1/calls'
import { Client, Metadata, status, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js'
import { endOf, TimedCall, type CallContext } from './context.ts'
import { asBytes, decoder, encoder, pathOf } from './definition.ts'
import { besideIn } from './metadata.ts'
import { failureFromError, failureFromTrailer, tooLarge } from './status.ts'
import { unreachable } from './unreached.ts'
import { noteRefused, noteUnsent } from './try-elsewhere.ts'

/** A message on the stream has about as much as this at most, and less where messages may not be so large. */
export function frameBytes(maxMessageBytes: number): number {
  return Math.min(128 * 1024, Math.floor(maxMessageBytes / 2))
}

/** What a call or an answer has beside its message and its credentials. */
export const besideBytes = 300

/** A peer that has no such stream. */
export const notCarried = new Error('The peer takes no calls on a stream')

const carryPath = pathOf(CallService.method.carry)
const encode = encoder(CarryRequestSchema)
const decode = decoder(CarryResponseSchema)

/** A channel whose unary calls go over one stream, as far as its peer has that. */
export class CallChannel extends Client {
  readonly #maxMessageBytes: number
  #stream: CallStream | undefined
  #isKnownWithout = false

  constructor(maxMessageBytes: number, ...options: ConstructorParameters<typeof Client>) {
    super(...options)
    this.#maxMessageBytes = maxMessageBytes
  }

  /**
   * Makes a unary call. Failures: those of its peer, and of the connection; rejects with `notCarried` where it has to be a
   * call of gRPC's own, and nothing was done.
   */
  carry(path: string, request: Uint8Array, metadata: Metadata, context: CallContext): Promise<Uint8Array> {
    const beside = besideIn(metadata)
    const size = request.length + beside.authorization.length + besideBytes
    if (this.#isKnownWithout || size > frameBytes(this.#maxMessageBytes)) return Promise.reject(notCarried)
    if (this.#stream?.isOpen !== true) this.#stream = new CallStream(this, this.#maxMessageBytes, this.#without)
    return this.#stream.call({ path, request, ...beside }, size, context)
  }

  /** What is on its way goes on. */
  override close(): void {
    this.#stream?.retire()
    super.close()
  }

  readonly #without = (): void => {
    this.#isKnownWithout = true
  }
}

interface Waiting {
  path: string
  parts: Uint8Array[]
  bytes: number
  resolve(response: Uint8Array): void
  reject(reason: Error): void
}

class CallStream {
  readonly #maxMessageBytes: number
  readonly #channel: Client
  readonly #stream: ClientDuplexStream<Buffer, Buffer>
  readonly #whenWithout: () => void
  readonly #waiting = new Map<number, Waiting>()
  #calls: MessageInitShape<typeof CallSchema>[] = []
  #cancelled: number[] = []
  #bytes = 0
  #planned = false
  #last = 0
  /** Whether it takes further calls. */
  isOpen = true

  constructor(channel: Client, maxMessageBytes: number, whenWithout: () => void) {
    this.#channel = channel
    this.#maxMessageBytes = maxMessageBytes
    this.#whenWithout = whenWithout
    this.#stream = channel.makeBidiStreamRequest(carryPath, asBytes, asBytes, new Metadata())
    this.#stream.on('data', (bytes: Buffer) => this.#receive(bytes))
    this.#stream.on('error', (error: ServiceError) => this.#over(error))
    this.#stream.on('status', ({ code }: { code: status }) => {
      if (code === status.OK) this.#over(undefined)
    })
  }

  async call(
    call: { path: string; request: Uint8Array } & ReturnType<typeof besideIn>,
    size: number,
    context: CallContext,
  ): Promise<Uint8Array> {
    const timed = new TimedCall(context)
    const { signal } = context
    const number = (this.#last = (this.#last + 1) % 2 ** 32)
    const answer = new Promise<Uint8Array>((resolve, reject) => {
      this.#waiting.set(number, { path: call.path, parts: [], bytes: 0, resolve, reject })
    })
    const timeoutMs = Math.min(Math.max(Math.ceil(timed.deadlineMs - Date.now()), 0), 2 ** 32 - 1)
    this.#add({ ...call, number, timeoutMs }, size)
    const leave = () => this.#waiting.get(number)?.reject(endOf(signal))
    signal.addEventListener('abort', leave, { once: true })
    try {
      return await timed.within(answer)
    } finally {
      signal.removeEventListener('abort', leave)
      // It has no answer, and nobody waits for one any more.
      if (this.#waiting.delete(number)) this.#cancel(number)
      this.#endIfDone()
    }
  }

  /** It takes no further calls, and ends when those on their way have their answers. */
  retire(): void {
    this.isOpen = false
    this.#endIfDone()
  }

  #add(call: MessageInitShape<typeof CallSchema>, size: number): void {
    if (this.#bytes + size > frameBytes(this.#maxMessageBytes)) this.#write()
    this.#calls.push(call)
    this.#bytes += size
    this.#plan()
  }

  #cancel(number: number): void {
    this.#cancelled.push(number)
    this.#plan()
  }

  /** The rest of this turn may add more. */
  #plan(): void {
    if (this.#planned) return
    this.#planned = true
    queueMicrotask(() => {
      this.#planned = false
      this.#write()
      this.#endIfDone()
    })
  }

  #write(): void {
    if (this.#calls.length === 0 && this.#cancelled.length === 0) return
    const frame = create(CarryRequestSchema, { calls: this.#calls, cancelled: this.#cancelled })
    this.#calls = []
    this.#cancelled = []
    this.#bytes = 0
    if (!this.#stream.destroyed && !this.#stream.writableEnded) this.#stream.write(encode(frame))
  }

  #receive(bytes: Buffer): void {
    let frame: CarryResponse
    try {
      frame = decode(bytes) as CarryResponse
    } catch {
      // No peer of ours: its calls end as those of a connection that broke.
      this.#stream.cancel()
      return
    }
    for (const answer of frame.answers) this.#settle(answer)
    if (frame.stopping) this.retire()
  }

  #settle({ number, response, hasMore, failure, refused }: Answer): void {
    const waiting = this.#waiting.get(number)
    if (waiting === undefined) return
    waiting.parts.push(response)
    waiting.bytes += response.length
    const isTooLarge = waiting.bytes > this.#maxMessageBytes
    if (hasMore && !isTooLarge) return
    this.#waiting.delete(number)
    if (refused) waiting.reject(noteRefused(unreachable(undefined)))
    else if (isTooLarge) waiting.reject(tooLarge())
    else if (failure !== undefined)
      waiting.reject(failureFromTrailer(failure, new Error(`${waiting.path} failed there`)))
    else waiting.resolve(waiting.parts.length === 1 ? response : Buffer.concat(waiting.parts))
  }

  #endIfDone(): void {
    if (this.isOpen || this.#waiting.size > 0 || this.#calls.length > 0 || this.#cancelled.length > 0) return
    this.#stream.end()
  }

  /** With an error where it broke; without one its peer has answered all that it had got. */
  #over(error: ServiceError | undefined): void {
    this.isOpen = false
    const isWithout = error?.code === status.UNIMPLEMENTED
    if (isWithout) this.#whenWithout()
    const isUnsent = this.#stream.getPeer() === this.#channel.getChannel().getTarget()
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) {
      if (isWithout) reject(notCarried)
      else if (error === undefined) reject(noteRefused(unreachable(undefined)))
      else reject(isUnsent ? noteUnsent(failureFromError(error)) : failureFromError(error))
    }
  }
}
