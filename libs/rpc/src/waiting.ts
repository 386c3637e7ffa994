/** How much of a stream may wait at either end, unless its service says otherwise. */
export const usualWaitingBytes = 256 * 1024

// An empty message is kept somewhere, too.
const overheadBytes = 1024

/** What a message counts for while it waits. */
export function weightOf(bytes: Uint8Array): number {
  return bytes.length + overheadBytes
}
