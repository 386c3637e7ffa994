import type { EventEmitter } from 'node:events'
import type { Failure } from '@automation/errors'

/** A readable stream of grpc-js, client or server side. */
export interface MessageSource extends EventEmitter {
  pause(): unknown
  resume(): unknown
}

const usualWaiting = 32

/**
 * The messages of a stream in order, taken only as fast as they are asked for. Stands in for the stream's own iterator,
 * which destroys a duplex, and so the answer, when its reader stops early. A caller that
 * goes away may look like one that ends its stream in order. `failureOf` tells what an error of the stream means. With
 * `maxWaiting` messages that nobody has asked for the stream is paused.
 */
export function received<T>(
  stream: MessageSource,
  failureOf: (error: unknown) => Failure,
  maxWaiting = usualWaiting,
): AsyncIterableIterator<T> {
  const waiting: T[] = []
  let ended = false
  let failure: Failure | undefined
  let wake: (() => void) | undefined
  let paused = false
  const onData = (message: T) => {
    waiting.push(message)
    if (waiting.length >= maxWaiting) {
      stream.pause()
      paused = true
    }
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

  async function* messages() {
    try {
      for (;;) {
        const message = waiting.shift()
        if (message !== undefined) yield message
        else if (failure !== undefined) throw failure
        else if (ended) return
        else await more()
      }
    } finally {
      // The error listener stays: an error that nobody listens to would end the process.
      stream.off('data', onData).off('end', onEnd)
      stream.pause()
    }
  }

  function more(): Promise<void> {
    if (paused) stream.resume()
    paused = false
    return new Promise((resolve) => (wake = resolve))
  }
}
