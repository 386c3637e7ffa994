/** The messages of an UploadObject or UploadSet call; `content` is kept only if it ends in order. */
export async function* uploadMessages<Begin>(begin: Begin, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  yield { part: { case: 'begin' as const, value: begin } }
  for await (const chunk of content) yield { part: { case: 'chunk' as const, value: chunk } }
  yield { part: { case: 'end' as const, value: {} } }
}
