import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Launched } from '../launch.ts'
import type { Candidate, Trial } from './isolation.ts'

const program = readFileSync(fileURLToPath(new URL('../../launcher/probe.py', import.meta.url)), 'utf8')
const withinMs = 15_000
// Of the channels: descriptor 4.
const answersAt = 1

const unreachable =
  'the network of the host: loopback, private, link-local and metadata addresses (no kernel closes addresses there), but not the ports of the service'

/** Starts children in the isolation that is being tried. */
interface TrialStarts {
  /** The processes that fork launchers. */
  starterPids(): number[]
  /** One of each program that must run in it. */
  children(): Promise<Launched>[]
  python(...parameters: string[]): Promise<Launched>
}

/** Tries to get out of a level, to things that none lets through. */
export class EscapeProbe {
  readonly #directory: string
  readonly #server: Server

  private constructor(directory: string, server: Server) {
    this.#directory = directory
    this.#server = server
  }

  static async start(directory: string): Promise<EscapeProbe> {
    writeFileSync(join(directory, 'secret'), randomBytes(16).toString('hex'))
    const server = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
    server.unref()
    return new EscapeProbe(directory, server)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Tries to get out of an isolation level, and to run in it what must run. */
  async tryOut(candidate: Candidate, starts: TrialStarts): Promise<Trial> {
    if (candidate.level === 'none') return { open: ['all that this account may do: files, processes, network'] }
    try {
      // With their orders the starters are there.
      const children = starts.children().map((child) => child.then(firstWords))
      const targets = {
        secret: join(this.#directory, 'secret'),
        outside: join(this.#directory, 'written'),
        processes: [process.pid, ...starts.starterPids()],
        port: this.port,
      }
      const python = starts.python('-c', program, JSON.stringify(targets)).then(firstWords)
      const [found] = await Promise.all([python, ...children])
      return judge(candidate, JSON.parse(found) as Found)
    } catch (error) {
      return { why: error instanceof Error ? error.message : String(error) }
    }
  }

  close(): void {
    this.#server.close()
    for (const name of ['secret', 'written']) rmSync(join(this.#directory, name), { force: true })
  }
}

/** What the attempts came to: each is true when it got through. */
type Found = Record<'reads' | 'writes' | 'sees' | 'signals' | 'connects', boolean>

function judge({ level, network }: Candidate, found: Found): Trial {
  if (found.reads) return { why: 'a child read a file of the host' }
  if (found.writes) return { why: 'a child wrote a file of the host' }
  if (level === 'namespaces') {
    if (found.sees) return { why: 'a child saw processes of the host' }
    if (found.signals) return { why: 'a child may send signals to the service' }
    if (found.connects)
      return { why: 'a child reached a port of the service (Landlock version 4, of Linux 6.7, closes them)' }
    return { open: network === 'host' ? [unreachable] : [] }
  }
  const open = [found.connects ? 'the network, with the ports of the service' : unreachable, 'the list of processes']
  return { open: found.signals ? [...open, 'signals to other processes'] : open }
}

/** The first that a child says on its channel; rejects with its last words when it ends before. The child is ended. */
async function firstWords({ output, errors, channels, control }: Launched): Promise<string> {
  const answers = channels[answersAt]!
  let said = ''
  try {
    return await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('a child did not start in time')), withinMs)
      answers.once('data', (chunk: Buffer) => resolve(chunk.toString()))
      const hear = (chunk: Buffer) => void (said += chunk.toString())
      for (const stream of [output, errors]) stream.onBytes(hear)
      control.on('data', hear)
      control.once('close', () => reject(new Error(lastWordsOf(said))))
      for (const stream of [answers, control]) stream.once('close', () => clearTimeout(timer))
    })
  } finally {
    control.write('K')
    for (const stream of [output, errors, ...channels]) stream.destroy()
    control.resume()
    control.once('end', () => control.destroy())
  }
}

function lastWordsOf(said: string): string {
  const words = said
    .replace(/^pid \d+$/gm, '')
    .trim()
    .split('\n')
  return (words.at(-1) ?? '').replace(/^failed /, '').slice(0, 300) || 'a child ended before it said anything'
}
