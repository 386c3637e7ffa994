/** A text as PostgreSQL takes it: NUL, which it refuses, becomes the replacement character. */
export function storedText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}

/** UTF-8 bytes as a text for a row; invalid sequences and NUL become the replacement character. */
export function textOf(bytes: Uint8Array): string {
  return storedText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
}

/** A text of a row as UTF-8 bytes. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'utf8')
}
