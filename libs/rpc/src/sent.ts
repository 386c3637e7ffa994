import { create, type DescMessage } from '@bufbuild/protobuf'
import type { EventEmitter } from 'node:events'
import { encoder } from './definition.ts'
import { usualWaitingBytes, weightOf } from './received.ts'

/** A writable stream of grpc-js, client or server side. */
interface MessageSink extends EventEmitter {
  write(bytes: Buffer, written: () => void): boolean
  destroyed: boolean
}

type Init = Record<string, unknown>

const ends = ['close', 'cancelled', 'error', 'status']

/**
 * Writes messages as they come, as fast as the other side takes them: what is not yet on its way is bounded in bytes.
 * Ends early when the call is over.
 */
export async function send(type: DescMessage, messages: AsyncIterable<Init>, stream: MessageSink): Promise<void> {
  const encode = encoder(type)
  let unsentBytes = 0
  let over = false
  let wake: (() => void) | undefined
  const end = () => {
    over = true
    wake?.()
  }
  for (const name of ends) stream.once(name, end)
  try {
    for await (const message of messages) {
      if (over || stream.destroyed) return
      const bytes = encode(create(type, message))
      const weight = weightOf(bytes)
      unsentBytes += weight
      stream.write(bytes, () => {
        unsentBytes -= weight
        wake?.()
      })
      while (unsentBytes >= usualWaitingBytes && !over) await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    for (const name of ends) stream.off(name, end)
  }
}
