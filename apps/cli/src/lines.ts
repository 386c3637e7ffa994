/** The lines of UTF-8, and an empty one at its end. Only a newline ends a line: JSON has U+2028 and U+2029 as they are. */
export async function* linesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  // Joined where a line ends: one that is long comes in many pieces.
  let begun: string[] = []
  for await (const piece of source) {
    const [first, ...others] = decoder.decode(piece, { stream: true }).split('\n')
    begun.push(first!)
    for (const next of others) {
      yield begun.join('').replace(/\r$/, '')
      begun = [next]
    }
  }
  const rest = begun.join('') + decoder.decode()
  if (rest !== '') yield rest
  yield ''
}
