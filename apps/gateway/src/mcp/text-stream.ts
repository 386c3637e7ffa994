/** The text of a body of UTF-8, piece by piece. */
export function textOf(body: ReadableStream<Uint8Array>): ReadableStream<string> {
  return body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
}
