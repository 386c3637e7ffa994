/*
 * A call of a child: a head of JSON text, and, behind a newline, what may be large, a body: parameters or a value as
 * text, a piece of a content as it is. Only the head is parsed, which is small: process code may send anything, and
 * parsing it takes time from everybody.
 */

/** A comment of 10,000 characters has 120 KB where all are escaped. */
export const headMaxBytes = 256 * 1024

/** Where the head of a call ends. */
export function headEndOf(payload: Buffer): number {
  const newline = payload.indexOf(10)
  return newline < 0 ? payload.length : newline
}

/** The number of a call of which no more is read; children write it first. NaN where there is none. */
export function numberIn(payload: Buffer): number {
  return Number(/^\{"number": ?(\d{1,10})[,}]/.exec(payload.toString('latin1', 0, 32))?.[1])
}

/** The same bytes, to be held until the answer: where they lie beside larger ones in memory, a copy. */
export function ownBytes(bytes: Buffer): Buffer {
  return bytes.length * 2 < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes
}
