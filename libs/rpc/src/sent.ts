import { create, type DescMessage, type Message } from '@bufbuild/protobuf'
import type { EventEmitter } from 'node:events'

/** A writable stream of grpc-js, client or server side. */
export interface MessageSink extends EventEmitter {
  write(message: Message): boolean
  destroyed: boolean
}

type Init = Record<string, unknown>

/** Writes messages as they come, as fast as the other side takes them; ends early when the call is over. */
export async function send(type: DescMessage, messages: AsyncIterable<Init>, stream: MessageSink): Promise<void> {
  for await (const message of messages) {
    if (stream.destroyed) return
    if (!stream.write(create(type, message))) await drained(stream)
  }
}

const ends = ['drain', 'close', 'cancelled', 'error', 'status']

function drained(stream: MessageSink): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ends) stream.once(name, done)
    function done() {
      for (const name of ends) stream.off(name, done)
      resolve()
    }
  })
}
