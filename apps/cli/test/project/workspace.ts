import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { runProgram } from '../../src/run-program.ts'
import { expect } from 'vitest'
import type { OwnTeam } from './own-team.ts'

const run = promisify(execFile)
export const program = resolve(import.meta.dirname, '../../src/main.ts')

/** What a command line came to. */
export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** A clone of somebody's, with the command line that they use in it. */
export class Workspace implements AsyncDisposable {
  readonly folder: string
  readonly env: Record<string, string>

  private constructor(folder: string, env: Record<string, string>) {
    this.folder = folder
    this.env = env
  }

  /** A new repository, or a clone of another one. */
  static async make(system: OwnTeam, from?: Workspace): Promise<Workspace> {
    const folder = await mkdtemp(join(tmpdir(), 'pas-project-'))
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      XDG_CONFIG_HOME: `${folder}.config`,
      PAS_TOKEN: system.apiToken,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_SYSTEM: '/dev/null',
      GIT_AUTHOR_NAME: 'somebody',
      GIT_AUTHOR_EMAIL: 'somebody@example.com',
      GIT_COMMITTER_NAME: 'somebody',
      GIT_COMMITTER_EMAIL: 'somebody@example.com',
    }
    const made = new Workspace(folder, env)
    await (from ? made.git('clone', '-q', from.folder, '.') : made.git('init', '-q', '-b', 'main'))
    if (from === undefined) {
      await made.write('pas.yaml', `layout: 1\ncontexts:\n  prod: { url: ${system.host}, team: ${system.team} }\n`)
      await made.write('.gitignore', '.pas/\nplan.json\n')
    }
    return made
  }

  async git(...args: string[]): Promise<string> {
    return (await run('git', args, { cwd: this.folder, env: this.env })).stdout
  }

  async commit(message = 'a change'): Promise<void> {
    await this.git('add', '-A')
    await this.git('commit', '-q', '--allow-empty', '-m', message)
  }

  async write(path: string, content: string): Promise<void> {
    await mkdir(dirname(join(this.folder, path)), { recursive: true })
    await writeFile(join(this.folder, path), content)
  }

  /** The text of a file; undefined where there is none. */
  async read(path: string): Promise<string | undefined> {
    return readFile(join(this.folder, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
  }

  remove(path: string): Promise<void> {
    return rm(join(this.folder, path), { recursive: true })
  }

  /** Runs a command line to its end. */
  async pas(...args: string[]): Promise<Ended> {
    return this.pasWith({}, ...args)
  }

  /** The same with more environment variables. */
  async pasWith(env: Record<string, string>, ...args: string[]): Promise<Ended> {
    const [stdin, stdout, stderr] = [new PassThrough().end(), new PassThrough(), new PassThrough()]
    const self = {
      ...{ stdin, stdout, stderr, env: { ...this.env, ...env }, exitCode: 0 },
      cwd: () => this.folder,
      on: () => self,
      exit: (code: number) => {
        throw new Error(`ended with ${code}`)
      },
    }
    const texts = Promise.all([text(stdout), text(stderr)])
    await runProgram(args, self as unknown as NodeJS.Process)
    stdout.end()
    stderr.end()
    const [out, words] = await texts
    return { code: self.exitCode, stdout: out, stderr: words }
  }

  /** Starts a command line as a process of its own, which can be killed. */
  start(...args: string[]): ChildProcess {
    return spawn(process.execPath, [program, ...args], {
      cwd: this.folder,
      env: { ...this.env, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
    await rm(this.env['XDG_CONFIG_HOME']!, { recursive: true, force: true })
  }
}

let count = 0
/** A slug that no other test of a file uses. */
export function unique(prefix: string): string {
  count += 1
  return `${prefix}-${count}`
}

/** The path of a file of a process. */
export const sourceOf = (slug: string, name = 'main.js') => `processes/${slug}/${name}`

/** A repository with a process that was pushed from its first commit. */
export async function pushed(
  system: OwnTeam,
  slug: string,
  source = 'return 1\n',
  settings = 'tags: [one] # first\n',
): Promise<Workspace> {
  const workspace = await Workspace.make(system)
  await workspace.write(sourceOf(slug), source)
  await workspace.write(sourceOf(slug, 'process.yaml'), settings)
  await workspace.commit()
  expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 0 })
  return workspace
}
