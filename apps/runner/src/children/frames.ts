/**
 * Frames between the runner and a child: a length of four bytes (little endian), a type byte and a payload. Frames from
 * a child have the number of the run before the payload. children/javascript/channel.js and
 * children/python/frames.py have the same types.
 */
export const FrameType = {
  rehearse: 87,
  program: 80,
  surroundings: 83,
  run: 82,
  answer: 65,
  hello: 72,
  value: 86,
  failure: 69,
  call: 67,
  clean: 75,
  unclean: 88,
  template: 84,
  used: 85,
} as const

export interface Frame {
  type: number
  run: number
  payload: Buffer
}

const headBytes = 5
const fromChildMinBytes = 5

/** A frame to a child, of a type and the parts of its payload. */
export function frame(type: number, ...parts: Uint8Array[]): Buffer {
  let size = headBytes
  for (const part of parts) size += part.length
  const bytes = Buffer.allocUnsafe(size)
  bytes.writeUInt32LE(size - 4, 0)
  bytes[4] = type
  let at = headBytes
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** A frame with a value as JSON text. */
export function jsonFrame(type: number, value: unknown): Buffer {
  return frame(type, Buffer.from(JSON.stringify(value)))
}

const nothing = new Uint8Array()

/** The frame that starts a run: header, parameters and request as JSON text, behind the lengths of the first two. */
export function runFrame(header: object, parameters: Uint8Array, request: Uint8Array = nothing): Buffer {
  const text = Buffer.from(JSON.stringify(header))
  const lengths = Buffer.allocUnsafe(8)
  lengths.writeUInt32LE(text.length, 0)
  lengths.writeUInt32LE(parameters.length, 4)
  return frame(FrameType.run, lengths, text, parameters, request)
}

/** The answer to a call: a header as JSON, and a value that is JSON text already. */
export function answerFrame(header: object, value: Uint8Array = nothing): Buffer {
  const text = Buffer.from(JSON.stringify(header))
  const length = Buffer.allocUnsafe(4)
  length.writeUInt32LE(text.length, 0)
  return frame(FrameType.answer, length, text, value)
}

/** Cuts what comes from a child into frames. The child is hostile: what is too short or too long ends the reading. */
export class FrameReader {
  readonly #maxBytes: number
  readonly #onFrame: (frame: Frame) => void
  readonly #onFault: (words: string) => void
  #pieces: Buffer[] = []
  #size = 0
  #broken = false

  constructor(maxBytes: number, onFrame: (frame: Frame) => void, onFault: (words: string) => void) {
    this.#maxBytes = maxBytes
    this.#onFrame = onFrame
    this.#onFault = onFault
  }

  push(chunk: Buffer): void {
    if (this.#broken) return
    this.#pieces.push(chunk)
    this.#size += chunk.length
    if (this.#size >= 4 && this.#size >= this.#wanted()) this.#cut()
  }

  /** Bytes of the first frame, head included; Infinity once a length is out of bounds. */
  #wanted(): number {
    let first = this.#pieces[0]!
    if (first.length < 4) this.#pieces = [(first = Buffer.concat(this.#pieces))]
    const length = first.readUInt32LE(0)
    if (length >= fromChildMinBytes && length <= this.#maxBytes) return 4 + length
    this.#broken = true
    this.#pieces = []
    this.#onFault(`a frame of ${length} bytes`)
    return Infinity
  }

  #cut(): void {
    const bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
    let at = 0
    while (bytes.length - at >= 4) {
      const length = bytes.readUInt32LE(at)
      const end = at + 4 + length
      if (length < fromChildMinBytes || length > this.#maxBytes || end > bytes.length) break
      this.#onFrame({ type: bytes[at + 4]!, run: bytes.readUInt32LE(at + 5), payload: bytes.subarray(at + 9, end) })
      at = end
    }
    this.#pieces = at < bytes.length ? [bytes.subarray(at)] : []
    this.#size = bytes.length - at
    if (this.#size >= 4) this.#wanted()
  }
}
