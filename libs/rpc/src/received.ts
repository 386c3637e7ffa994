import type { EventEmitter } from 'node:events'
import type { Failure } from '@automation/errors'
import { malformed as malformedMessage } from './status.ts'

/** How much of a stream may wait at either end, unless its service says otherwise. */
export const usualWaitingBytes = 256 * 1024

// An empty message is kept somewhere, too.
const overheadBytes = 1024

/** What a message counts for while it waits. */
export function weightOf(bytes: Uint8Array): number {
  return bytes.length + overheadBytes
}

/** A readable stream of grpc-js, client or server side. */
interface MessageSource extends EventEmitter {
  pause(): unknown
  /** Asks the transport for one message more. */
  _read(size: number): void
}

export interface Receiving<T> {
  decode(bytes: Buffer): T
  /** What it means when a message can't be decoded. */
  malformed: 'invalid_argument' | 'internal'
  /** What an error of the stream means. */
  failureOf(error: unknown): Failure
  /** With so much that nobody has asked for the transport is asked for no more; 256 KiB. */
  waitingBytes?: number
}

/**
 * The messages of a stream in order, taken only as fast as they are asked for. Stands in for the stream's own iterator,
 * which destroys a duplex, and so the answer, when its reader stops early. A caller that goes away may look like one that
 * ends its stream in order.
 */
export function received<T>(
  stream: MessageSource,
  { decode, malformed, failureOf, waitingBytes: most = usualWaitingBytes }: Receiving<T>,
): AsyncIterableIterator<T> {
  const waiting: Buffer[] = []
  let waitingBytes = 0
  let ended = false
  let failure: Failure | undefined
  let wake: (() => void) | undefined
  const source = gated(stream, () => waitingBytes < most)
  const onData = (bytes: Buffer) => {
    waiting.push(bytes)
    waitingBytes += weightOf(bytes)
    wake?.()
  }
  const onEnd = () => {
    ended = true
    wake?.()
  }
  const onError = (error: unknown) => {
    failure ??= failureOf(error)
    wake?.()
  }
  stream.on('data', onData).on('end', onEnd).on('error', onError).on('cancelled', onError)
  return messages()

  function decoded(bytes: Buffer): T {
    try {
      return decode(bytes)
    } catch (error) {
      throw malformedMessage(malformed, error)
    }
  }

  async function* messages() {
    try {
      for (;;) {
        const bytes = waiting.shift()
        if (bytes !== undefined) {
          waitingBytes -= weightOf(bytes)
          source.goOn()
          yield decoded(bytes)
        } else if (failure !== undefined) throw failure
        else if (ended) return
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      // The error listener stays: an error that nobody listens to would end the process.
      stream.off('data', onData).off('end', onEnd)
      stream.pause()
      source.close()
    }
  }
}

/**
 * Lets the stream ask for messages only while there is capacity. Pausing it is not enough: a paused stream of grpc-js still
 * fetches sixteen messages, of whatever size.
 */
export function gated(stream: MessageSource, hasCapacity: () => boolean) {
  const read = stream._read.bind(stream)
  let asked: number | undefined
  let closed = false
  const goOn = () => {
    if (asked === undefined || closed || !hasCapacity()) return
    const size = asked
    asked = undefined
    read(size)
  }
  stream._read = (size) => {
    asked = size
    goOn()
  }
  return { goOn, close: () => (closed = true) }
}
