import { connectivityState, credentials } from '@grpc/grpc-js'
import type { ChannelCredentials, ChannelOptions } from '@grpc/grpc-js'
import { CallChannel } from './call-stream.ts'
import type { TlsFolder } from './tls-folder.ts'

// What is given up stays open until the kernel ends it, after two minutes, or whoever took it without a word: so it
// becomes rarer, but never so rare that a replica that is back is not found while the next one is still up.
const mostMs = 4000
const heldUpMs = 100

/**
 * A connection to one replica. gRPC waits for an answer from there as long as the kernel does, two minutes, though another
 * process may listen there by then. So whoever can't be reached for `connectWithinMs` is looked for anew, each time after
 * twice as long.
 */
export class Connection {
  readonly #address: string
  readonly #options: ChannelOptions
  readonly #credentials: ChannelCredentials
  readonly #connectWithinMs: number
  readonly #maxMessageBytes: number
  /** When it was asked for the last time. */
  usedAtMs = Date.now()
  #patienceMs: number
  #channel: CallChannel
  #giveUpAtMs: number | undefined
  #hasTimeAgain = false
  #closed = false

  constructor(
    address: string,
    options: ChannelOptions,
    connectWithinMs: number,
    maxMessageBytes: number,
    secured?: ReturnType<TlsFolder['channel']>,
  ) {
    this.#address = address
    this.#options = { ...options, ...secured?.options }
    this.#credentials = secured?.credentials ?? credentials.createInsecure()
    this.#connectWithinMs = connectWithinMs
    this.#maxMessageBytes = maxMessageBytes
    this.#patienceMs = connectWithinMs
    this.#channel = this.#open()
  }

  /** For the next call; calls that began on another one end there. */
  get channel(): CallChannel {
    return this.#channel
  }

  /** Connects where it does not yet. */
  get state(): connectivityState {
    return this.#channel.getChannel().getConnectivityState(true)
  }

  close(): void {
    this.#closed = true
    this.#channel.close()
  }

  #open(): CallChannel {
    const channel = new CallChannel(this.#maxMessageBytes, this.#address, this.#credentials, this.#options)
    this.#giveUpAtMs = undefined
    this.#hasTimeAgain = false
    this.#watch(channel)
    return channel
  }

  #watch(channel: CallChannel): void {
    const watched = channel.getChannel()
    const state = watched.getConnectivityState(false)
    if (state === connectivityState.READY) this.#patienceMs = this.#connectWithinMs
    if (state === connectivityState.READY || state === connectivityState.IDLE) this.#giveUpAtMs = undefined
    else this.#giveUpAtMs ??= Date.now() + this.#patienceMs
    watched.watchConnectivityState(state, this.#giveUpAtMs ?? Infinity, (tooLate) => {
      if (this.#closed) return
      if (tooLate === undefined || this.#wasHeldUp()) this.#watch(channel)
      else this.#renew(channel)
    })
  }

  /** Whether this process came to itself too late to say that the other one did not answer; that has its time again, once. */
  #wasHeldUp(): boolean {
    const now = Date.now()
    if (this.#hasTimeAgain || now - (this.#giveUpAtMs ?? now) < heldUpMs) return false
    this.#hasTimeAgain = true
    this.#giveUpAtMs = now + this.#patienceMs
    return true
  }

  #renew(former: CallChannel): void {
    this.#patienceMs = Math.min(this.#patienceMs * 2, mostMs)
    this.#channel = this.#open()
    // What waits in it fails as unavailable; what is on its way goes on.
    former.close()
    this.#channel.getChannel().getConnectivityState(true)
  }
}
