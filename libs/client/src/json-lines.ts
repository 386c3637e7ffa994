import { piecesOf } from './stream-pieces.ts'

/** The objects of an answer with one in each line. Rejects with ConnectionError where it is cut. */
export async function* jsonLines<T>(response: Response): AsyncGenerator<T> {
  // Joined where a line ends: one that is long comes in many pieces.
  let begun: string[] = []
  for await (const text of piecesOf(response.body!.pipeThrough(new TextDecoderStream()))) {
    const [first, ...others] = text.split('\n')
    begun.push(first!)
    for (const next of others) {
      const line = begun.join('')
      begun = [next]
      if (line !== '') yield JSON.parse(line) as T
    }
  }
  const rest = begun.join('')
  if (rest !== '') yield JSON.parse(rest) as T
}
