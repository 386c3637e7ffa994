import { piecesOf } from './stream-pieces.ts'

/** The objects of an answer with one in each line. Rejects with ConnectionError where it is cut. */
export async function* jsonLines<T>(response: Response): AsyncGenerator<T> {
  let rest = ''
  for await (const text of piecesOf(response.body!.pipeThrough(new TextDecoderStream()))) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') yield JSON.parse(line) as T
  }
  if (rest !== '') yield JSON.parse(rest) as T
}
