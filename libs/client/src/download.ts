import { pause, pauseMs } from './retries.ts'
import { piecesOf } from './stream-pieces.ts'

/** Attempts that may bring nothing, one after the other. */
const mostFailures = 10

/**
 * An answer whose body goes on where its connection is cut: with the bytes that are missing, of the same content.
 * `open` asks for it with headers beside its own, until its signal. Ends when its reader leaves, too.
 */
export async function resumedDownload(
  open: (headers: Record<string, string>, signal: AbortSignal) => Promise<Response>,
  signal?: AbortSignal,
): Promise<Response> {
  const left = new AbortController()
  const ends = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal])
  const first = await open({}, ends)
  const tag = first.headers.get('ETag')
  if (first.body === null || tag === null || tag.startsWith('W/')) return first
  const { status, statusText, headers } = first
  const pieces = body(first, (from) => open({ Range: `bytes=${from}-`, 'If-Range': tag }, ends), ends)
  return new Response(streamOf(pieces, left), { status, statusText, headers })
}

async function* body(
  first: Response,
  openFrom: (from: number) => Promise<Response>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let received = 0
  let response: Response | undefined = first
  for (let failures = 1; ; failures += 1) {
    try {
      response ??= await openFrom(received)
      if (response !== first && response.status !== 206) throw changed()
      for await (const piece of piecesOf(response.body!)) {
        received += piece.length
        failures = 1
        yield piece
      }
      return
    } catch (cause) {
      signal.throwIfAborted()
      const waitMs = failures > mostFailures ? undefined : pauseMs(cause, failures, Math.random())
      if (waitMs === undefined) throw cause
      response = undefined
      await pause(waitMs, signal)
    }
  }
}

const changed = () => new Error('The file has changed while it was downloaded: download it again')

/** Read as it is asked for; aborts `left` when its reader leaves, as a piece may never come. */
function streamOf(pieces: AsyncGenerator<Uint8Array>, left: AbortController): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      left.abort()
      await pieces.return(undefined)
    },
  })
}
