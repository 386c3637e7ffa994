import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryRoot } from '../system/system.ts'
import { installedIn, system } from './installed.ts'

/** What a command line printed, and its exit code. */
export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface PasOptions {
  /** Written to stdin, which ends behind it. */
  input?: string
  env?: Record<string, string>
  cwd?: string
}

/** The program: as it is installed, or from the sources. */
export const program =
  installedIn === undefined
    ? [process.execPath, join(repositoryRoot, 'apps/cli/src/main.ts')]
    : [join(installedIn, 'node_modules/.bin/pas')]

/** A home of its own: nothing that others have stored is seen. */
export const home = mkdtempSync(join(tmpdir(), 'pas-home-'))

const compileCache = process.env['NODE_COMPILE_CACHE']

/** The shared system and its team, signed in. */
export function environment(): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    ...(compileCache && { NODE_COMPILE_CACHE: compileCache }),
    ...{ PAS_URL: system.host, PAS_TEAM: system.team, PAS_TOKEN: system.apiToken },
  }
}

/** Starts `pas` for the shared system, signed in unless `env` says otherwise. */
export function start(args: readonly string[], { env = {}, cwd = home }: PasOptions = {}): Started {
  const [command = '', ...before] = program
  return new Started(spawn(command, [...before, ...args], { cwd, env: { ...environment(), ...env } }))
}

/** Runs `pas` to its end. */
export async function pas(args: readonly string[], options: PasOptions = {}): Promise<Ended> {
  const started = start(args, options)
  started.child.stdin.on('error', () => undefined) // it may end without reading
  started.child.stdin.end(options.input ?? '')
  return started.ended
}

/** The JSON that a command prints with `--json`. */
export async function pasJson<T>(args: readonly string[], options?: PasOptions): Promise<T> {
  const { code, stdout, stderr } = await pas([...args, '--json'], options)
  if (code !== 0) throw new Error(`pas ${args.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout) as T
}

/** The values of JSON Lines. */
export const linesOf = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { type: string } & Record<string, unknown>)

/** A program that runs. */
export class Started {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<Ended>
  #output = { stdout: '', stderr: '' }
  #heard: (() => void)[] = []

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        this.#output[stream] += text
        for (const heard of this.#heard.splice(0)) heard()
      })
    this.ended = once(child, 'close').then(() => ({ code: child.exitCode, ...this.#output }))
  }

  /** What it has printed so far. */
  get printed(): Readonly<{ stdout: string; stderr: string }> {
    return this.#output
  }

  /** Resolves when it has printed this; rejects with what it printed where it ends before. */
  async has(text: string): Promise<void> {
    const over = this.ended.then((ended) => {
      if (!this.#has(text)) throw new Error(`It ended without "${text}": ${JSON.stringify(ended)}`)
    })
    while (!this.#has(text)) await Promise.race([over, new Promise<void>((resolve) => this.#heard.push(resolve))])
  }

  #has(text: string): boolean {
    return this.#output.stdout.includes(text) || this.#output.stderr.includes(text)
  }
}
