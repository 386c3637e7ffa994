import { existsSync, renameSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import type { DependencySet } from '@automation/contract/catalog/v1/resolve'
import { Language } from '@automation/contract/common/v1/language'
import { ConfigurationError, type Logger } from '@automation/service'
import { limitsOf } from './archive.ts'
import type { InstallEvents, Installer } from './installer.ts'
import type { SetMetrics } from '../metrics.ts'
import { Packing, unpackFile, type Packed } from './packing.ts'
import { resolvedVersions } from './resolved.ts'
import { DamagedSet, type SharedSet, type SharedSets } from './shared-sets.ts'

export interface SetsOptions {
  directory: string
  isInSharedFolder: boolean
  keepMs: number
  maxMb: number
  /** What all may hold together, but for those that are used. */
  keptMb: number
  /** Whether children find this set. */
  isUsed(key: string): boolean
  installer: Installer
  shared: SharedSets
  metrics: SetMetrics
  /** Such as `node147-linux-x64-glibc2.36` and `python3.11-linux-x64-musl`: what is installed for one is not for another. */
  runtimes: Record<'JAVASCRIPT' | 'PYTHON', string>
  logger: Logger
}

/** A set that is to be made. */
export interface SetRequest {
  /** Of the run that it is made for. */
  team: string
  language: Language
  set: DependencySet
  token: string
  /** Aborted when that run waits no more. */
  signal: AbortSignal
  /** That run is its install. */
  install?: InstallEvents
}

export interface Made {
  /** Of all files. */
  bytes: number
  diskBytes: number
  /** Of the packed set: where it was installed to be shared, or fetched. */
  digest?: string
  /** Of an install: the versions of its packages, by their names. */
  resolved?: Record<string, string>
}

const keyLength = 36
const complete = 'complete.json'
const notWritten = 'The runner could not write the packages'
// Longer than any install may take.
const halfKeptMs = 3 * 3_600_000

interface Making {
  made: Promise<Made>
  /** How many runs wait for it. */
  waiting: number
  /** Aborted when none does. */
  abandoned: AbortController
}

/** The sets of packages on this runner: made aside, put in their place at once, and read only from then on. */
export class DependencySets {
  readonly #options: SetsOptions
  readonly #making = new Map<string, Making>()

  constructor(options: SetsOptions) {
    this.#options = options
  }

  /** Where the files of a set are, or will be. */
  pathOf(language: Language, { key }: DependencySet): string {
    return join(this.#folderOf(language, key), 'files')
  }

  /** Whether a run may begin with it at once. */
  isHere(language: Language, { key }: DependencySet): boolean {
    const folder = this.#folderOf(language, key)
    if (!existsSync(join(folder, complete))) return false
    const now = new Date()
    utimes(folder, now, now).catch((error: unknown) =>
      this.#options.logger.debug({ err: error }, 'a set is not marked'),
    )
    return true
  }

  /**
   * Fetches a set or installs it, or waits for it where that is under way. An install installs, and shares what it made;
   * it is ended when nobody waits for it any more. Throws the installer's last lines.
   */
  make(request: SetRequest): Promise<Made> {
    const folder = this.#folderOf(request.language, request.set.key)
    const making = this.#making.get(folder) ?? this.#begin(request, folder)
    making.waiting += 1
    const leave = () => {
      making.waiting -= 1
      if (making.waiting > 0) return
      this.#forget(folder, making)
      making.abandoned.abort(new Error('Nobody waits for the packages any more'))
    }
    request.signal.addEventListener('abort', leave, { once: true })
    return making.made
  }

  /** Makes the directory. Throws a ConfigurationError where somebody else has, who could change what runs import. */
  async claim(): Promise<void> {
    const { directory, isInSharedFolder } = this.#options
    await mkdir(directory, { recursive: true, mode: 0o700 })
    if (!isInSharedFolder) return
    const found = await lstat(directory)
    if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) return
    const fault = `RUNNER_DEPENDENCIES_DIR must be set: others than this account may change ${directory}`
    throw new ConfigurationError([fault])
  }

  /** Removes what was left half made, and sets that nobody has used for long. */
  async tidy(now = Date.now()): Promise<void> {
    const { directory, keepMs, logger } = this.#options
    await this.claim()
    for (const name of await readdir(directory)) {
      const path = join(directory, name)
      const keptMs = name.startsWith('.') ? halfKeptMs : keepMs
      const usedMs = (await stat(path).catch(() => undefined))?.mtimeMs ?? now
      if (now - usedMs < keptMs) continue
      logger.info({ set: name }, 'a set of packages is removed')
      await rm(path, { recursive: true, force: true })
    }
  }

  /** Removes sets that nobody has a use for any more. */
  async remove(keys: readonly string[]): Promise<void> {
    const { directory } = this.#options
    const unused = new Set(keys)
    for (const name of await readdir(directory).catch(() => []))
      if (unused.has(name.slice(0, keyLength))) await rm(join(directory, name), { recursive: true, force: true })
  }

  #begin(request: SetRequest, folder: string): Making {
    const abandoned = new AbortController()
    const made = this.#make({ ...request, signal: abandoned.signal }, folder).finally(() =>
      this.#forget(folder, making),
    )
    const making: Making = { made, waiting: 0, abandoned }
    this.#making.set(folder, making)
    return making
  }

  /** Who comes now has it made anew. */
  #forget(folder: string, making: Making): void {
    if (this.#making.get(folder) === making) this.#making.delete(folder)
  }

  async #make(request: SetRequest, folder: string): Promise<Made> {
    const { directory } = this.#options
    const aside = join(directory, `.${randomUUID()}`)
    try {
      await this.claim()
      await this.#makeRoom()
      const made = await this.#madeAside(request, aside)
      await writeFile(join(aside, complete), JSON.stringify({ ...made, packages: request.set.packages }))
      request.signal.throwIfAborted()
      // Runs may use it, where it was made anew after this making was abandoned.
      if (existsSync(join(folder, complete))) return made
      await rm(folder, { recursive: true, force: true })
      await rename(aside, folder)
      return made
    } catch (error) {
      throw this.#inWords(error, request.set.key)
    } finally {
      // What stays is removed later.
      await rm(aside, { recursive: true, force: true }).catch(() => undefined)
    }
  }

  /** What the system says of the runner's own files is for its log alone. */
  #inWords(error: unknown, key: string): unknown {
    const { syscall, code = '' } = error as NodeJS.ErrnoException
    if (syscall === undefined && !(error instanceof ConfigurationError)) return error
    this.#options.logger.error({ err: error, set: key }, 'a set of packages is not written')
    const why = ['ENOSPC', 'EDQUOT'].includes(code) ? 'The runner has no room for the packages' : notWritten
    return new Error(`${why}; try again later, or tell your operator`, { cause: error })
  }

  /** For another set: those that no child finds are removed, the least recently used first. */
  async #makeRoom(): Promise<void> {
    const { directory, keptMb, isUsed, logger } = this.#options
    const kept = []
    for (const name of await readdir(directory)) {
      if (name.startsWith('.')) continue
      const path = join(directory, name)
      const [usedMs, bytes] = [(await stat(path).catch(() => undefined))?.mtimeMs ?? 0, await diskBytesOf(path)]
      kept.push({ name, path, usedMs, bytes })
    }
    let excess = kept.reduce((sum, { bytes }) => sum + bytes, 0) - keptMb * 2 ** 20
    for (const { name, path, bytes } of kept.toSorted((a, b) => a.usedMs - b.usedMs)) {
      if (excess <= 0) return
      if (this.#making.has(path) || isUsed(name.slice(0, keyLength))) continue
      excess -= bytes
      // For another set that is made, it has been removed already.
      if (!existsSync(path)) continue
      const gone = join(directory, `.${randomUUID()}`)
      // At once: no run begins with it from here on.
      renameSync(path, gone)
      logger.info({ set: name }, 'a set of packages is removed for want of room')
      await rm(gone, { recursive: true, force: true })
    }
  }

  async #madeAside(request: SetRequest, aside: string): Promise<Made> {
    const { installer, metrics } = this.#options
    const { language, set, install, team, signal } = request
    if (install !== undefined) return this.#installed(request, install, aside)
    const fetched = await this.#fetched(request, aside)
    if (fetched !== undefined) return fetched
    const made = await installer.install(language, set, await emptied(aside), { team, signal })
    metrics.count('installed')
    return made
  }

  /** Undefined where there is none to be had, or none that is as its install made it. */
  async #fetched({ language, set, token, signal }: SetRequest, aside: string): Promise<Made | undefined> {
    const { shared, maxMb, metrics, logger } = this.#options
    if (set.digest === '') return undefined
    const packed = join(aside, 'packed')
    const limits = limitsOf({ maxMb })
    try {
      const files = await emptied(aside)
      const packedBytes = await shared.fetch(
        { set, runtime: this.#runtimeOf(language), token },
        packed,
        limits.maxBytes,
        signal,
      )
      signal.throwIfAborted()
      if (packedBytes === undefined) return undefined
      const unpacked = await unpackFile(packed, files, limits)
      await rm(packed)
      metrics.count('fetched', packedBytes)
      return { ...unpacked, digest: set.digest }
    } catch (error) {
      signal.throwIfAborted()
      const isDamaged = error instanceof DamagedSet
      if (isDamaged) metrics.count('refused')
      const words = isDamaged ? 'a set of packages is refused' : 'a set of packages can not be fetched'
      logger.warn({ err: error, set: set.key }, `${words}, and is installed anew`)
      return undefined
    }
  }

  async #installed(
    { team, language, set, token, signal }: SetRequest,
    events: InstallEvents,
    aside: string,
  ): Promise<Made> {
    const { installer, metrics } = this.#options
    const files = await emptied(aside)
    const path = join(aside, 'packed')
    const packing = new Packing(path)
    const ended = new AbortController()
    const began: InstallEvents['began'] = (end) =>
      events.began((how) => {
        ended.abort()
        end(how)
      })
    try {
      const heard = { line: (text: string) => events.line(text), began }
      const through = (archive: AsyncIterable<Buffer>) => packing.through(archive)
      const unpacked = await installer.install(language, set, files, { team, events: heard, signal, through })
      const packed = await packing.end()
      metrics.count('installed')
      await this.#share({ set, runtime: this.#runtimeOf(language), token }, path, packed, ended.signal)
      await rm(path)
      return { ...unpacked, digest: packed.digest, resolved: await resolvedVersions(language, files) }
    } finally {
      await packing.abandon()
    }
  }

  /** Others install it by themselves where it can not be shared. */
  async #share(set: SharedSet, path: string, packed: Packed, signal: AbortSignal): Promise<void> {
    const { shared, metrics, logger } = this.#options
    try {
      await shared.share(set, path, packed, signal)
      metrics.count('shared', packed.packedBytes)
    } catch (error) {
      logger.warn({ err: error, set: set.set.key }, 'a set of packages is not shared')
    }
  }

  #runtimeOf(language: Language): string {
    return this.#options.runtimes[language === Language.PYTHON ? 'PYTHON' : 'JAVASCRIPT']
  }

  #folderOf(language: Language, key: string): string {
    if (!/^[0-9a-f-]{36}$/.test(key)) throw new Error('The name of a set is not one')
    return join(this.#options.directory, `${key}-${this.#runtimeOf(language)}`)
  }
}

/** What a set takes on the disk; nothing where it has just been removed. */
async function diskBytesOf(path: string): Promise<number> {
  try {
    const { bytes, diskBytes } = JSON.parse(await readFile(join(path, complete), 'utf8')) as Partial<Made>
    return diskBytes ?? bytes ?? 0
  } catch {
    return 0
  }
}

/** An empty folder for the files of a set. */
async function emptied(aside: string): Promise<string> {
  await rm(aside, { recursive: true, force: true })
  const files = join(aside, 'files')
  await mkdir(files, { recursive: true, mode: 0o755 })
  return files
}
