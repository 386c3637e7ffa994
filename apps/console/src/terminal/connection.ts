/** What the service says before it ends a terminal. */
interface Ending {
  exit?: { code: number; signal?: string }
  error?: { code: string; message: string }
}

interface Listener {
  open: () => void
  output: (bytes: Uint8Array) => void
  /** Why it is over, in words. */
  ended: (reason: string) => void
}

/** A terminal of a sandbox over a WebSocket: bytes both ways, and the size as text. */
export class Connection {
  readonly #socket: WebSocket
  readonly #encoder = new TextEncoder()
  #reason = 'The connection is cut'

  constructor(address: string, { open, output, ended }: Listener) {
    this.#socket = new WebSocket(address)
    this.#socket.binaryType = 'arraybuffer'
    this.#socket.addEventListener('open', open)
    this.#socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === 'string') this.#reason = reasonOf(JSON.parse(data) as Ending)
      else output(new Uint8Array(data))
    })
    this.#socket.addEventListener('close', () => ended(this.#reason))
  }

  type(text: string): void {
    this.#send(this.#encoder.encode(text))
  }

  /** Bytes that are no text, each as one character of `binary`. */
  typeBytes(binary: string): void {
    this.#send(Uint8Array.from(binary, (character) => character.charCodeAt(0)))
  }

  resize(cols: number, rows: number): void {
    this.#send(JSON.stringify({ resize: { cols, rows } }))
  }

  #send(data: Uint8Array<ArrayBuffer> | string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(data)
  }
}

function reasonOf({ exit, error }: Ending): string {
  if (error) return error.message
  if (exit?.signal) return `The shell was ended by ${exit.signal}`
  return `The shell has ended with code ${exit?.code ?? 0}`
}
