import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ownDirectory, shownRoot, type Launcher, type ProgramMount } from '@automation/jail'
import type { Logger } from '@automation/service'
import { compilingProgram } from './daemon-program.ts'

const run = promisify(execFile)
const bundling = fileURLToPath(new URL('../../../../sandbox-daemon/bundle.ts', import.meta.url))
const shown = join(shownRoot, 'daemon')
const mostBytes = 32 * 1024 * 1024
const withinMs = 30_000

/**
 * The daemon as jails have it, read-only: bundled, and what Node has compiled of that. With both it starts in a third of
 * the time. The compiling is done in a jail, where only the daemon itself runs, by the paths that it has there.
 */
export class DaemonFiles {
  readonly #directory: string
  readonly #leaving = new AbortController()
  #bundled: Promise<unknown> = Promise.resolve()
  #compiled: Promise<void> | undefined

  /** Nothing at first, in a directory of the service of this name. */
  constructor(name: string, tmpDir: string) {
    this.#directory = ownDirectory(name, tmpDir)
    // Who a child is in a jail is a stranger here.
    chmodSync(this.#directory, 0o755)
  }

  get mount(): ProgramMount {
    return { path: this.#directory, shown }
  }

  /** Where daemons in this launcher's isolation find them. */
  path({ isolation }: Launcher): string {
    return isolation.level === 'namespaces' ? shown : this.#directory
  }

  /** Bundles the daemon. Rejects where that can't be done, and when they are removed meanwhile. */
  async bundle(): Promise<void> {
    const { signal } = this.#leaving
    this.#bundled = run(process.execPath, [bundling, this.#directory], { signal })
    try {
      await this.#bundled
    } catch (error) {
      const { stderr = '', message } = error as Error & { stderr?: string }
      const said = stderr.split('\n').find((line) => line.includes('Error')) ?? message
      throw new Error(`The daemon of sandboxes could not be bundled: ${said}`, { cause: error })
    }
  }

  /** Compiles it, once. Where that fails the log says why, and daemons start without it. */
  compile(launcher: Launcher, logger: Logger): Promise<void> {
    return (this.#compiled ??= this.#compile(launcher).catch((error: unknown) => {
      if (!existsSync(this.#directory)) return
      logger.warn({ err: error }, 'the daemon of sandboxes could not be compiled ahead')
    }))
  }

  /** What is on its way comes to nothing. */
  async remove(): Promise<void> {
    this.#leaving.abort()
    await this.#bundled.catch(() => undefined) // `bundle` tells it
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async #compile(launcher: Launcher): Promise<void> {
    const { control, output, errors, channels } = await launcher.start(compilingProgram(this.path(launcher)))
    const [lines] = channels
    const late = setTimeout(() => control.destroy(), withinMs)
    const words: string[] = []
    for (const stream of [output, errors]) stream.onBytes((bytes) => words.push(bytes.toString()))
    try {
      let text = ''
      for await (const chunk of lines!.setEncoding('latin1')) {
        text += String(chunk)
        if (text.length > mostBytes) throw new Error('the daemon compiled is too large')
      }
      if (text === '') throw new Error(`the daemon was not compiled: ${words.join('').slice(-500)}`)
      this.#keep(JSON.parse(text) as Record<string, string>)
    } finally {
      clearTimeout(late)
      for (const each of [control, output, errors, ...channels]) each.destroy()
    }
  }

  /** All of it is there at once. */
  #keep(files: Record<string, string>): void {
    const paths = Object.keys(files)
    const folder = dirname(paths[0] ?? '')
    const coming = join(this.#directory, '.coming')
    mkdirSync(coming)
    for (const path of paths) {
      if (!/^[\w.-]+\/\w+$/.test(path) || dirname(path) !== folder) throw new Error(`no compiled file: ${path}`)
      const file = join(coming, path.slice(folder.length + 1))
      writeFileSync(file, Buffer.from(files[path]!, 'base64'))
      chmodSync(file, 0o644)
    }
    chmodSync(coming, 0o755)
    renameSync(coming, join(this.#directory, folder))
  }
}
