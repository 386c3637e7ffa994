import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ownDirectory, shownRoot, type Launcher, type ProgramMount } from '@automation/jail'
import type { Logger } from '@automation/service'
import { compilingProgram } from './daemon-program.ts'

const shown = join(shownRoot, 'compiled')
const mostBytes = 32 * 1024 * 1024
const withinMs = 30_000

/**
 * What Node has compiled of the daemon: it starts in half of the time with that. It is made in a jail, where only the
 * daemon itself runs, by the paths that it has there, and shown to all others read-only.
 */
export class CompiledDaemon {
  readonly #directory: string
  #filled: Promise<void> | undefined

  /** Nothing at first, in a directory of the service of this name. */
  constructor(name: string, tmpDir: string) {
    this.#directory = ownDirectory(name, tmpDir)
    // Who a child is in a jail is a stranger here.
    chmodSync(this.#directory, 0o755)
  }

  get mount(): ProgramMount {
    return { path: this.#directory, shown }
  }

  /** Where daemons in this launcher's isolation find it. */
  path({ isolation }: Launcher): string {
    return isolation.level === 'namespaces' ? shown : this.#directory
  }

  /** Makes it, once. Where that fails the log says why, and daemons start without it. */
  fill(launcher: Launcher, logger: Logger): Promise<void> {
    return (this.#filled ??= this.#fill(launcher).catch((error: unknown) => {
      if (!existsSync(this.#directory)) return
      logger.warn({ err: error }, 'the daemon of sandboxes could not be compiled ahead')
    }))
  }

  /** What is on its way comes to nothing. */
  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async #fill(launcher: Launcher): Promise<void> {
    const { control, output, errors, channels } = await launcher.start(compilingProgram)
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
