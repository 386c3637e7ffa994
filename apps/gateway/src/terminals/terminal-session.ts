import type { RunCommandResponse } from '@automation/contract/sandbox/v1/daemon'
import type { Failure } from '@automation/errors'
import type { MessageQueue } from '@automation/rpc/message-queue'
import type { WebSocket } from 'ws'
import { isObject, parseJson } from '../http/json.ts'
import { type CommandRequest, commandEndedBy } from '../sandbox-ports/command-call.ts'

/** Of a frame that comes in, with all of its fragments. */
export const MAX_FRAME_BYTES = 256 * 1024

const MAX_TEXT_BYTES = 1024
// What waits here for the sandbox to take it; then its client waits.
const MOST_WAITING_BYTES = 256 * 1024
const MESSAGE_BYTES = 64
// What waits here for its client to take it, beside what is shown.
const MOST_PONG_BYTES = 64 * 1024
const PING_MS = 30_000
const IDLE_MS = 3_600_000

const CLOSED = { normal: 1000, stopping: 1001, refused: 1008, failed: 1011 }

export interface TerminalSessionOptions {
  /** What the sandbox is to be told; its end is the end of what is typed. */
  requests: MessageQueue<CommandRequest>
  /** Of a command that has started. */
  responses: AsyncIterator<RunCommandResponse>
  /** Is told of a failure that ends it. */
  failed: (failure: Failure) => void
  /** Its client has gone, or is told to go; may be called again. */
  over: () => void
}

/** How much a message counts while it waits. */
export function waitingBytes({ message }: CommandRequest): number {
  return MESSAGE_BYTES + (message?.case === 'input' ? (message.value?.length ?? 0) : 0)
}

/** One terminal and its WebSocket: bytes in both directions, each no faster than its reader takes them. */
export class TerminalSession {
  readonly #socket: WebSocket
  readonly #options: TerminalSessionOptions
  readonly #pings: NodeJS.Timeout
  #answered = true
  #activeAt = performance.now()

  constructor(socket: WebSocket, options: TerminalSessionOptions) {
    this.#socket = socket
    this.#options = options
    this.#pings = setInterval(() => this.#ping(), PING_MS)
    socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary))
    socket.on('pong', () => (this.#answered = true))
    socket.on('ping', (data) => {
      if (socket.bufferedAmount > MOST_PONG_BYTES) socket.terminate()
      else socket.pong(data)
    })
    socket.on('error', () => undefined) // `close` follows
    socket.on('close', () => {
      clearInterval(this.#pings)
      options.requests.close()
      options.over()
    })
    void this.#show()
  }

  #take(data: Buffer, isBinary: boolean): void {
    this.#activeAt = performance.now()
    const { requests } = this.#options
    const message = isBinary ? ({ case: 'input', value: data } as const) : resizeFrom(data)
    if (message === undefined) {
      const text = 'A text frame must be {"resize": {"cols", "rows"}}, each from 1 to 1000'
      return this.#close({ error: { code: 'invalid_input', message: text } }, CLOSED.refused)
    }
    requests.push({ message }, () => {
      if (requests.unread < MOST_WAITING_BYTES) this.#socket.resume()
    })
    if (requests.unread >= MOST_WAITING_BYTES) this.#socket.pause()
  }

  async #show(): Promise<void> {
    const { responses, failed } = this.#options
    try {
      for (let next = await responses.next(); next.done !== true; next = await responses.next()) {
        const { case: kind, value } = next.value.message
        if (kind === 'standardOutput' || kind === 'standardError') await this.#send(value)
        else if (kind === 'ended') {
          const { exitCode: code, signal } = value
          return this.#close({ exit: { code, signal } }, CLOSED.normal)
        }
      }
      throw new Error('The sandbox did not say how the command has ended')
    } catch (error) {
      if (this.#socket.readyState !== this.#socket.OPEN) return
      const failure = commandEndedBy(error)
      failed(failure)
      const { code, message } = failure
      this.#close({ error: { code, message } }, code === 'stopping' ? CLOSED.stopping : CLOSED.failed)
    }
  }

  /** Resolves when its client has taken it, or is gone. */
  #send(data: Uint8Array): Promise<void> {
    this.#activeAt = performance.now()
    return new Promise((resolve) => this.#socket.send(data, { binary: true }, () => resolve()))
  }

  #close(last: object, code: number): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.send(JSON.stringify(last))
    this.#socket.close(code)
    this.#options.over()
  }

  #ping(): void {
    if (!this.#answered) return this.#socket.terminate()
    if (performance.now() - this.#activeAt > IDLE_MS) {
      const message = 'Nothing was typed or shown for an hour'
      return this.#close({ error: { code: 'terminal_idle', message } }, CLOSED.normal)
    }
    this.#answered = false
    this.#socket.ping()
  }
}

/** `{"resize": {"cols", "rows"}}`; undefined for any other text. */
function resizeFrom(data: Buffer): CommandRequest['message'] | undefined {
  const found = data.length > MAX_TEXT_BYTES ? undefined : parsed(data)
  const size = isObject(found) ? found['resize'] : undefined
  if (!isObject(size)) return undefined
  const { cols: columns, rows } = size
  return isSize(columns) && isSize(rows) ? { case: 'resize', value: { columns, rows } } : undefined
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000
}

function parsed(data: Buffer): unknown {
  try {
    return parseJson(data.toString())
  } catch {
    // No JSON is no resize.
    return undefined
  }
}
