import { ConnectionError } from './errors.ts'

/** The pieces of a stream as they are read. Rejects with ConnectionError where it is cut. */
export async function* piecesOf<T>(stream: ReadableStream<T>): AsyncGenerator<T> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new ConnectionError('The answer was cut', { cause })
      })
      if (done) return
      yield value
    }
  } finally {
    // Of one that was cut, there is nothing to cancel.
    await reader.cancel().catch(() => undefined)
  }
}
