import { ConnectionError } from './errors.ts'

/** The objects of an answer with one in each line. Rejects with ConnectionError where it is cut. */
export async function* jsonLines<T>(response: Response): AsyncGenerator<T> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new ConnectionError('The answer was cut', { cause })
      })
      const lines = (rest + (value ?? '')).split('\n')
      rest = done ? '' : lines.pop()!
      for (const line of lines) if (line !== '') yield JSON.parse(line) as T
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
