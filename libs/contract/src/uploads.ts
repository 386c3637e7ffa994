/** Of one part of an upload. With as many parts as there may be, every size that UPLOAD_MAX_BYTES may have is reached. */
export const MAX_PART_BYTES = 512 * 2 ** 20

/** Parts of one upload are numbered from 1. */
export const MAX_PARTS = 10_000

/** The messages of an UploadObject, PutPart or UploadSet call; `content` is kept only if it ends in order. */
export async function* uploadMessages<Begin>(begin: Begin, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  yield { part: { case: 'begin' as const, value: begin } }
  for await (const chunk of content) yield { part: { case: 'chunk' as const, value: chunk } }
  yield { part: { case: 'end' as const, value: {} } }
}
