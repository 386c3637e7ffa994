import type { RunCommandResponse } from '@automation/contract/sandbox/v1/daemon'
import type { Failure } from '@automation/errors'

/** One line of what a command writes, or how it ended. */
type Line =
  | { type: 'stdout' | 'stderr'; data: string }
  | { type: 'exit'; code: number; signal: string | undefined; timedOut?: true }
  | { type: 'lost'; bytes: number }
  | { type: 'error'; code: string; message: string }

/** The same for the document. */
export const commandLinesText = `A JSON object in each line, as it comes: \`{"type": "stdout" or "stderr", "data"}\` with output in UTF-8; at last
\`{"type": "exit", "code", "signal", "timedOut"}\`, where \`code\` is 0 to 255, or -1 with the \`signal\` that ended it, and \`timedOut\` is true
after \`timeoutMs\`, else absent; or \`{"type": "error", "code", "message"}\` where the sandbox, the gateway or the access token ended first`

interface CommandLinesOptions {
  /** An empty line of output so often where there is nothing else, so that nobody on the way takes the connection for dead. */
  silenceMs: number
  /** How a failure is told. */
  failed: (error: unknown) => Failure
}

const utf8 = new TextEncoder()
const NOTHING = new Uint8Array()
const PIECE_BYTES = 64 * 1024

/**
 * What a command that has started writes, as lines of JSON, each when it comes and not before the one before it was taken.
 * Begins with nothing, so that the answer begins at once; ends with how the command ended, or with a failure.
 */
export async function* commandLines(
  responses: AsyncIterator<RunCommandResponse>,
  { silenceMs, failed }: CommandLinesOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const texts = { stdout: textDecoder(), stderr: textDecoder() }
  try {
    yield NOTHING
    for await (const response of withSilences(responses, silenceMs)) {
      const { case: kind, value } = response?.message ?? { case: 'silence' as const, value: undefined }
      if (kind === 'silence') yield lineOf({ type: 'stdout', data: '' })
      else if (kind === 'standardOutput') yield* output('stdout', texts.stdout, value)
      else if (kind === 'standardError') yield* output('stderr', texts.stderr, value)
      else if (kind === 'lost') yield lineOf({ type: 'lost', bytes: Number(value) })
      else if (kind === 'ended') {
        yield* output('stdout', texts.stdout)
        yield* output('stderr', texts.stderr)
        const { exitCode, signal, timedOut } = value
        return yield lineOf({ type: 'exit', code: exitCode, signal, ...(timedOut && { timedOut: true }) })
      }
    }
    throw new Error('The sandbox did not say how the command has ended')
  } catch (error) {
    const { code, message } = failed(error)
    yield lineOf({ type: 'error', code, message })
  }
}

/** Keeps half of a character for what follows; what is no UTF-8 becomes U+FFFD. */
function textDecoder(): TextDecoder {
  return new TextDecoder('utf-8', { ignoreBOM: true })
}

/** In lines that stay short, though JSON may make six characters of one; without `bytes`, what is left. */
function* output(type: 'stdout' | 'stderr', decoder: TextDecoder, bytes?: Uint8Array): Generator<Uint8Array> {
  const texts = bytes === undefined ? [decoder.decode()] : decodedPieces(decoder, bytes)
  for (const data of texts) if (data !== '') yield lineOf({ type, data })
}

function* decodedPieces(decoder: TextDecoder, bytes: Uint8Array): Generator<string> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true })
}

function lineOf(line: Line): Uint8Array {
  return utf8.encode(`${JSON.stringify(line)}\n`)
}

/** The same, with undefined wherever nothing came for so long. */
async function* withSilences<T>(source: AsyncIterator<T>, silenceMs: number): AsyncGenerator<T | undefined> {
  for (let next = source.next(); ;) {
    const silence = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => silence.resolve(undefined), silenceMs)
    const result = await Promise.race([next, silence.promise]).finally(() => clearTimeout(timer))
    if (result?.done === true) return
    yield result?.value
    if (result !== undefined) next = source.next()
  }
}
