import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import type { CommandStart, TerminalSize } from '@automation/contract/sandbox/v1/daemon'
import { invalid } from '@automation/errors'
import { MessageQueue } from '@automation/rpc/message-queue'
import { killAll, signalAll } from './processes.ts'
import type { Spawned } from './spawned.ts'

export type Output =
  | { case: 'standardOutput'; value: Buffer }
  | { case: 'standardError'; value: Buffer }
  | { case: 'ended'; value: { exitCode: number; signal?: string; timedOut: boolean } }

const mostOutputBytes = 256 * 1024
const mostInputBytes = 1024 * 1024
const longestTimerMs = 2 ** 31 - 1

/** How long the output of a command that has ended must be silent, while others still hold it open. */
const silenceMs = 100

/**
 * What comes from an output after the end of its command beyond so many bytes, or so many looks, is not its own: the kernel
 * holds less of it.
 */
const mostLeft = { bytes: 1024 * 1024, looks: 20 }

/** A command that runs: its process, and what it writes, taken no faster than it is read. */
export class Command {
  readonly pid: number
  readonly command: string[]
  readonly startedAt = new Date()
  /** Resolves when its process has ended; others that it started may go on. */
  readonly ended: Promise<void>
  readonly #id: string
  readonly #child: ChildProcessWithoutNullStreams
  readonly #resize: Spawned['resize']
  readonly #output = new MessageQueue<Output>((output) => (output.case === 'ended' ? 0 : output.value.length))
  #timedOut = false
  /** Of each output, how many bytes are still taken: what comes behind them is dropped. */
  readonly #left = { standardOutput: Infinity, standardError: Infinity }
  /** When something came, or was passed on. */
  #movedAt = 0

  constructor({ child, resize }: Spawned, id: string, { command, timeoutMs }: CommandStart) {
    this.#child = child
    this.#resize = resize
    this.#id = id
    this.pid = child.pid!
    this.command = command
    this.#take(child.stdout, 'standardOutput')
    this.#take(child.stderr, 'standardError')
    // A program that reads no input closes it; that is no failure.
    child.stdin.on('error', () => undefined)
    const timer = timeoutMs > 0 ? setTimeout(() => this.#expire(), Math.min(timeoutMs, longestTimerMs)) : undefined
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        clearTimeout(timer)
        resolve()
        void this.#finish(code, signal)
      })
    })
  }

  /** What it writes, and at last how it ended. */
  output(): AsyncIterable<Output> {
    return this.#output
  }

  /** Nobody reads what it writes any more: that is dropped, and waits for nobody. */
  leave(): void {
    this.#output.abort()
  }

  /** Waits while the command reads slower than it is fed. */
  async feed(input: Uint8Array): Promise<void> {
    const { stdin } = this.#child
    if (stdin.destroyed || stdin.writableEnded) return
    stdin.write(input)
    if (stdin.writableLength < mostInputBytes) return
    await new Promise<void>((resolve) => {
      const done = () => {
        stdin.off('drain', done).off('close', done)
        resolve()
      }
      stdin.on('drain', done).on('close', done)
    })
  }

  endInput(): void {
    this.#child.stdin.end()
  }

  /** Of its terminal. */
  resize(size: TerminalSize): void {
    if (this.#resize === undefined) throw invalid('/resize', 'needs a command with pty')
    this.#resize(size)
  }

  /** To it and all that it started. */
  signal(number: number): void {
    if (number < 1 || number > 64) throw invalid('/signal', 'must be a signal from 1 to 64')
    signalAll(this.pid, this.#id, number)
  }

  /** Ends it and all that it started. */
  kill(): void {
    killAll(this.pid, this.#id)
  }

  #take(stream: Readable, name: 'standardOutput' | 'standardError'): void {
    stream.on('error', () => undefined) // its end is told by `close`
    stream.on('data', (value: Buffer) => {
      // The other output has its turn as well: what comes here must not fill the queue for ever.
      if (this.#left[name] <= 0) return
      this.#left[name] -= value.length
      this.#movedAt = performance.now()
      this.#output.push({ case: name, value }, () => this.#goOn())
      if (!this.#isFull) return
      this.#child.stdout.pause()
      this.#child.stderr.pause()
    })
  }

  get #isFull(): boolean {
    return this.#output.unread >= mostOutputBytes
  }

  #goOn(): void {
    this.#movedAt = performance.now()
    if (this.#isFull) return
    this.#child.stdout.resume()
    this.#child.stderr.resume()
  }

  #expire(): void {
    this.#timedOut = true
    this.kill()
  }

  async #finish(code: number | null, signal: string | null): Promise<void> {
    await this.#written()
    const value = { exitCode: code ?? -1, signal: signal ?? undefined, timedOut: this.#timedOut }
    this.#output.push({ case: 'ended', value })
    this.#output.close()
    // What goes on in the background may go on writing.
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream.removeAllListeners('data').resume()
  }

  /**
   * Resolves when all is read that it wrote: both streams are closed, or where others hold them open, silent or only
   * theirs.
   */
  #written(): Promise<void> {
    const { stdout, stderr } = this.#child
    this.#left.standardOutput = this.#left.standardError = mostLeft.bytes
    let looks = 0
    return new Promise((resolve) => {
      this.#movedAt = performance.now()
      const timer = setInterval(() => setImmediate(look), silenceMs)
      // After a stall timers run before pipes are read: what has arrived meanwhile counts.
      const look = () => {
        const silent = !this.#isFull && performance.now() - this.#movedAt >= silenceMs
        if (!this.#isFull) looks += 1
        const isTaken =
          (stdout.closed || this.#left.standardOutput <= 0) && (stderr.closed || this.#left.standardError <= 0)
        if (isTaken || silent || looks > mostLeft.looks) done()
      }
      const closed = () => (stdout.closed && stderr.closed ? done() : undefined)
      const done = () => {
        clearInterval(timer)
        stdout.off('close', closed)
        stderr.off('close', closed)
        resolve()
      }
      stdout.on('close', closed)
      stderr.on('close', closed)
      closed()
    })
  }
}

/** The name of a signal's number, such as SIGKILL. */
export function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0]
}
