import { endBelow, type Launched } from '@automation/jail'
import { newSecret } from '../../api-key.ts'

const lastWordsBytes = 2000
const lastResortMs = 6000

/** How a jail ended: what its launcher says last, and what its daemon said before. */
interface JailEnd {
  /** `exit CODE`, `signal NUMBER` or `failed WORDS`; empty when the launcher itself was ended. */
  reported: string
  words: string
}

/** One sandbox on this machine: its launcher, and whatever runs below. */
export class Jail {
  /** Where its daemon listens. */
  readonly address: string
  /** What its daemon was started with. */
  readonly key = newSecret()
  readonly #environment: Record<string, string>
  /** Its private directory, where that is not in a memory of its own. */
  readonly directory: string | undefined
  /** Resolves when all that ran in it is gone. */
  readonly gone: Promise<JailEnd>
  readonly #launched: Launched
  /** How it ended, once it has. */
  ended: JailEnd | undefined
  #pid = 0
  #said = ''
  #words = ''

  constructor(launched: Launched) {
    const { listen, channels, output, errors, control, environment, directory } = launched
    this.#launched = launched
    this.address = `unix:${listen}`
    this.#environment = environment
    this.directory = directory
    channels[0]?.end(`${this.key}\n`)
    for (const stream of [output, errors]) {
      stream.onBytes((bytes) => (this.#words = (this.#words + bytes.toString()).slice(-lastWordsBytes)))
      stream.on('error', () => stream.destroy())
    }
    control.on('data', (chunk: Buffer) => this.#hear(chunk.toString()))
    this.gone = new Promise((resolve) => control.once('close', () => resolve((this.ended = this.#end()))))
  }

  /** Its launcher's; 0 while that is not known. */
  get pid(): number {
    return this.#pid
  }

  /** What commands of a sandbox's users find. */
  environmentOf(sandbox: string): Record<string, string> {
    const own = Object.entries(this.#environment).filter(([name]) => !/^(DAEMON|NODE)_/.test(name))
    return { ...Object.fromEntries(own), USER: 'sandbox', LOGNAME: 'sandbox', SHELL: '/bin/sh', SANDBOX_ID: sandbox }
  }

  /** Ends all that runs in it; resolves when that is gone. */
  async end(): Promise<void> {
    this.#launched.control.write('K')
    const timer = setTimeout(() => void this.#lastResort(), lastResortMs)
    await this.gone
    clearTimeout(timer)
  }

  /** The launcher has not done it. */
  async #lastResort(): Promise<void> {
    // The limits look at processes, too, and say why they can't.
    if (this.#pid > 0) await endBelow(this.#pid, this.directory === undefined).catch(() => undefined)
    this.#launched.control.destroy()
  }

  #hear(text: string): void {
    this.#said += text
    const [, pid] = /^pid (\d+)$/m.exec(this.#said) ?? []
    if (pid !== undefined) this.#pid = Number(pid)
  }

  #end(): JailEnd {
    for (const stream of [this.#launched.output, this.#launched.errors, ...this.#launched.channels]) stream.destroy()
    const reported = this.#said.replace(/^(?:pid|used) .*$/gm, '').trim()
    return { reported, words: this.#words.trim() }
  }
}

/** How one ended by itself, for its users. */
export function wordsOn({ reported, words }: JailEnd): string {
  // Its log is lines of JSON: what is none, Node or the daemon has said as it ended.
  const last = words.split('\n').findLast((line) => !line.startsWith('{')) ?? ''
  const how = reported === '' ? 'its launcher was ended' : reported.replace(/^failed /, '')
  return `It ended by itself: ${[how, last].filter(Boolean).join('; ')}`.slice(0, 500)
}
