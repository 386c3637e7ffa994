const mostBytes = 1024

/**
 * A text that a team wrote, as assistants are shown it: at most 1 KiB, and nothing that people would not see, such as
 * control characters and characters without width.
 */
export function teamText(text: string): string {
  const seen = text
    .toWellFormed()
    .replaceAll(/[\t\n\r]+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu, '')
    .trim()
  return cutText(seen, mostBytes)
}

/** The beginning of a text, in whole characters, of at most so many bytes of UTF-8. */
export function cutText(text: string, bytes: number): string {
  // No character has fewer bytes than code units.
  const start = text.slice(0, bytes)
  const encoded = Buffer.from(start)
  if (encoded.length <= bytes) return start
  let end = bytes
  while (end > 0 && ((encoded[end] as number) & 0xc0) === 0x80) end -= 1
  return encoded.toString('utf8', 0, end)
}
