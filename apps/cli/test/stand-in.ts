import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { listening, type Listening } from '@automation/testing/listening'

const main = resolve(import.meta.dirname, '../src/main.ts')

/** A token in the form of an access token: it is sent as it is. */
export const accessToken = 'eyJhbGciOiJub25lIn0.e30.c2ln'

/** A service that answers as a test says, which no real one can be brought to do, and the program before it. */
export class StandIn implements AsyncDisposable {
  readonly url: string
  /** The home of the program, and where it is started. */
  readonly folder: string
  /** `METHOD path` of all requests, in their order. */
  readonly requests: string[]
  readonly #server: Listening
  readonly #started: Started[] = []

  private constructor(server: Listening, folder: string, requests: string[]) {
    this.#server = server
    this.folder = folder
    this.requests = requests
    this.url = server.url
  }

  static async that(answer: RequestListener): Promise<StandIn> {
    const requests: string[] = []
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`)
      answer(request, response)
    })
    return new StandIn(await listening(server), await mkdtemp(join(tmpdir(), 'pas-stand-in-')), requests)
  }

  /** Starts `pas` for the team `demo`, signed in unless `env` says otherwise; its stdout goes to the file `output`, if given. */
  start(args: readonly string[], env: Record<string, string> = {}, output?: string): Started {
    const command =
      output === undefined
        ? ([process.execPath, [main, ...args]] as const)
        : (['sh', ['-c', `exec "$@" > ${output}`, 'sh', process.execPath, main, ...args]] as const)
    const child = spawn(...command, {
      cwd: this.folder,
      env: {
        ...{ PATH: process.env['PATH'], HOME: this.folder, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
        ...{ PAS_URL: this.url, PAS_TEAM: 'demo', PAS_TOKEN: accessToken, ...env },
      },
    })
    const started = new Started(child)
    this.#started.push(started)
    return started
  }

  /** Stores a credential for the team, as `pas login` does. */
  async signIn(credential: object): Promise<void> {
    const folder = join(this.folder, '.config/pas')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'credentials.json'), JSON.stringify({ [`${this.url} demo`]: credential }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#started) child.kill('SIGKILL')
    await Promise.all(this.#started.map(({ ended }) => ended))
    await this.#server.close()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** A program that runs: what it has printed so far, and its end. */
export class Started {
  readonly child: ChildProcessWithoutNullStreams
  stdout = ''
  stderr = ''
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.ended = once(child, 'close').then(() => ({ code: child.exitCode, stdout: this.stdout, stderr: this.stderr }))
  }
}
