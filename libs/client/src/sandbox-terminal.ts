import { ConnectionError } from './errors.ts'

/** In characters. */
export interface TerminalSize {
  columns: number
  rows: number
}

export interface TerminalEnd {
  exitCode: number
  signal?: string
}

/** A shell on a terminal of a sandbox. */
export interface SandboxTerminal {
  /** What it shows; to be read once. Ends with the shell. */
  output: ReadableStream<Uint8Array>
  /** How the shell ended. Rejects with ConnectionError where the terminal broke off. */
  ended: Promise<TerminalEnd>
  /** Types. */
  write(data: string | Uint8Array): void
  resize(size: TerminalSize): void
  /** Ends the shell, and all that was started on it. */
  close(): void
}

type Said = { exit?: { code: number; signal?: string }; error?: { code: string; message: string } }

/** Opens the terminal at an http address. Rejects with ConnectionError where it is refused. */
export function openTerminal(address: string, accessToken: string | undefined): Promise<SandboxTerminal> {
  const socket = new WebSocket(address.replace(/^http/, 'ws'), accessToken === undefined ? [] : ['bearer', accessToken])
  socket.binaryType = 'arraybuffer'
  const end = Promise.withResolvers<TerminalEnd>()
  // Who does not ask how it ended is not told.
  end.promise.catch(() => undefined)
  let hasReader = true
  const output = new ReadableStream<Uint8Array>({
    start(controller) {
      socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
        if (typeof data === 'string') hear(JSON.parse(data) as Said)
        else if (hasReader) controller.enqueue(new Uint8Array(data))
      })
      socket.addEventListener('close', ({ reason }) => {
        end.reject(new ConnectionError(`The terminal broke off${reason && `: ${reason}`}`))
        if (hasReader) controller.close()
      })
    },
    cancel() {
      // A stream that is left takes nothing more, not even its end.
      hasReader = false
      socket.close()
    },
  })

  function hear({ exit, error }: Said): void {
    if (exit !== undefined) end.resolve({ exitCode: exit.code, signal: exit.signal })
    if (error !== undefined) end.reject(new ConnectionError(`${error.code}: ${error.message}`))
  }

  const terminal: SandboxTerminal = {
    output,
    ended: end.promise,
    write: (data) => socket.send(typeof data === 'string' ? new TextEncoder().encode(data) : (data as BufferSource)),
    resize: ({ columns, rows }) => socket.send(JSON.stringify({ resize: { cols: columns, rows } })),
    close: () => socket.close(),
  }
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve(terminal))
    socket.addEventListener('error', () => {
      const why = 'the sandbox runs none, has ended, or the token may not'
      reject(new ConnectionError(`The terminal is not opened: ${why}`))
    })
  })
}
