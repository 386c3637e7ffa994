import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import type { DependencySet } from '@automation/contract/catalog/v1/resolve'
import { Language } from '@automation/contract/common/v1/language'
import type { Logger } from '@automation/service'
import type { Unpacked } from './archive.ts'
import type { InstallEvents, Installer } from './installer.ts'

export interface SetsOptions {
  directory: string
  keepMs: number
  installer: Installer
  /** Such as `node147-linux-x64-glibc2.36` and `python3.11-linux-x64-musl`: what is installed for one is not for another. */
  runtimes: Record<'JAVASCRIPT' | 'PYTHON', string>
  logger: Logger
}

const complete = 'complete.json'
// Longer than any install may take.
const halfKeptMs = 3 * 3_600_000
const quiet: InstallEvents = { line: () => undefined, began: () => undefined }

/** The sets of packages on this runner: made aside, put in their place at once, and read only from then on. */
export class DependencySets {
  readonly #options: SetsOptions
  readonly #making = new Map<string, Promise<Unpacked>>()

  constructor(options: SetsOptions) {
    this.#options = options
  }

  /** Where the files of a set are, or will be. */
  pathOf(language: Language, { key }: DependencySet): string {
    return join(this.#placeOf(language, key), 'files')
  }

  /** Whether a run may begin with it at once. */
  isHere(language: Language, { key }: DependencySet): boolean {
    const place = this.#placeOf(language, key)
    if (!existsSync(join(place, complete))) return false
    const now = new Date()
    utimes(place, now, now).catch((error: unknown) => this.#options.logger.debug({ err: error }, 'a set is not marked'))
    return true
  }

  /** Makes a set, or waits for it where it is being made. Throws the installer's last lines. */
  make(language: Language, set: DependencySet, events: InstallEvents = quiet): Promise<Unpacked> {
    const place = this.#placeOf(language, set.key)
    const making =
      this.#making.get(place) ?? this.#make(language, set, place, events).finally(() => this.#making.delete(place))
    this.#making.set(place, making)
    return making
  }

  /** Removes what was left half made, and sets that nobody has used for long. */
  async tidy(now = Date.now()): Promise<void> {
    const { directory, keepMs, logger } = this.#options
    await mkdir(directory, { recursive: true, mode: 0o700 })
    for (const name of await readdir(directory)) {
      const path = join(directory, name)
      const keptMs = name.startsWith('.') ? halfKeptMs : keepMs
      const usedMs = (await stat(path).catch(() => undefined))?.mtimeMs ?? now
      if (now - usedMs < keptMs) continue
      logger.info({ set: name }, 'a set of packages is removed')
      await rm(path, { recursive: true, force: true })
    }
  }

  async #make(language: Language, set: DependencySet, place: string, events: InstallEvents): Promise<Unpacked> {
    const { directory, installer } = this.#options
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const aside = join(directory, `.${randomUUID()}`)
    const files = join(aside, 'files')
    await mkdir(files, { recursive: true, mode: 0o755 })
    try {
      const made = await installer.install(language, set, files, events)
      await writeFile(join(aside, complete), JSON.stringify({ ...made, packages: set.packages }))
      await rm(place, { recursive: true, force: true })
      await rename(aside, place)
      return made
    } finally {
      await rm(aside, { recursive: true, force: true })
    }
  }

  #placeOf(language: Language, key: string): string {
    if (!/^[0-9a-f-]{36}$/.test(key)) throw new Error('The name of a set is not one')
    return join(
      this.#options.directory,
      `${key}-${this.#options.runtimes[language === Language.PYTHON ? 'PYTHON' : 'JAVASCRIPT']}`,
    )
  }
}
