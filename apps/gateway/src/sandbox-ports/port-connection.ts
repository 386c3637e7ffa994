import { Duplex } from 'node:stream'
import type { ConnectPortResponse, ControlService } from '@automation/contract/sandbox/v1/daemon'
import { Failure } from '@automation/errors'
import { asService, type Client } from '@automation/rpc'
import { MessageQueue } from '@automation/rpc/message-queue'

const principal = asService('gateway')

/** The requests of a connection: the port, then what is sent. */
type Sending = MessageQueue<{ port?: number; data?: Uint8Array }>

/** Opens a connection to a port of a sandbox through its daemon. Failures: those of ConnectPort; deadline_exceeded. */
export async function openPort(
  control: Client<typeof ControlService>,
  port: number,
  timeoutMs: number,
): Promise<PortConnection> {
  const left = new AbortController()
  const late = new Failure('deadline_exceeded', 'port_timeout', 'The sandbox did not answer in time')
  const timer = setTimeout(() => left.abort(late), timeoutMs)
  const sending: Sending = new MessageQueue()
  sending.push({ port })
  const context = { principal, requestId: crypto.randomUUID(), signal: left.signal }
  const responses = control.connectPort(sending, context)[Symbol.asyncIterator]()
  try {
    await responses.next()
  } catch (error) {
    sending.close()
    throw error
  } finally {
    clearTimeout(timer)
  }
  return new PortConnection(responses, sending, () => left.abort())
}

/** A connection as Node's HTTP client wants it, made of a call's two streams; each is read only as fast as needed. */
export class PortConnection extends Duplex {
  readonly #responses: AsyncIterator<ConnectPortResponse>
  readonly #sending: Sending
  readonly #leave: () => void

  constructor(responses: AsyncIterator<ConnectPortResponse>, sending: Sending, leave: () => void) {
    // A break is read only when all before it is taken: it would drop what is not.
    super({ allowHalfOpen: true, readableHighWaterMark: 1 })
    this.#responses = responses
    this.#sending = sending
    this.#leave = leave
  }

  override _read(): void {
    this.#responses.next().then(
      ({ done, value }) => {
        if (done === true || value.end) this.push(null)
        else if (value.data.length > 0) this.push(value.data)
        else this._read()
      },
      (error: unknown) => this.destroy(error as Error),
    )
  }

  override _write(data: Buffer, _encoding: string, taken: (error?: Error | null) => void): void {
    this.#sending.push({ data }, taken)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#sending.close()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leave()
    this.#sending.close()
    done(error)
  }
}
