/** The lines of UTF-8, and an empty one at its end. Only a newline ends a line: JSON has U+2028 and U+2029 as they are. */
export async function* linesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of source) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) yield line.replace(/\r$/, '')
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
  yield ''
}
