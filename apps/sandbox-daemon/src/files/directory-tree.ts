import { lstatSync, readdirSync, statSync, watch, type FSWatcher, type Stats } from 'node:fs'
import { join } from 'node:path'
import {
  ChangeType,
  type WatchDirectoryRequest,
  type WatchDirectoryResponseSchema,
} from '@automation/contract/sandbox/v1/daemon'
import { Failure } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import { MessageQueue } from '@automation/rpc/message-queue'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { pathFrom } from '../home.ts'
import { fileFault } from './file-faults.ts'

type Notify = (type: ChangeType, path: string) => void

interface Directory {
  watcher: FSWatcher
  /** What is known to be in it, and how it looked. */
  entries: Map<string, string>
}

const mostDirectories = 10_000
const rootLookMs = 1000

/**
 * Watches a directory, and those below it where asked to, by one watch for each: what is made in a new directory before
 * its watch stands is found by looking, so that nothing is missed. Looks synchronously, so that what it knows is always
 * of one moment.
 */
class DirectoryTree {
  readonly #root: string
  readonly #recursive: boolean
  readonly #notify: Notify
  readonly #gone: () => void
  readonly #directories = new Map<string, Directory>()
  readonly #identity: string | undefined
  /** The kernel tells nothing of a link on the way to the root that leads elsewhere now, or of a directory above it. */
  readonly #rootLooks: NodeJS.Timeout

  /** Throws where the root is no directory that can be watched; `gone` is called when its path leads to it no more. */
  constructor(root: string, recursive: boolean, notify: Notify, gone: () => void) {
    this.#root = root
    this.#recursive = recursive
    this.#notify = notify
    this.#gone = gone
    // Before its watch stands: one that is replaced meanwhile is seen to be another with its first change.
    this.#identity = identityOf(root)
    this.#rootLooks = setInterval(() => {
      if (identityOf(root) !== this.#identity) this.#lost(root)
    }, rootLookMs)
    try {
      this.#enter(root, () => undefined)
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    clearInterval(this.#rootLooks)
    for (const { watcher } of this.#directories.values()) watcher.close()
    this.#directories.clear()
  }

  /** Watches a directory, then looks at what is in it. */
  #enter(path: string, found: (path: string) => void): void {
    if (this.#directories.has(path)) return
    if (this.#directories.size >= mostDirectories) throw tooMany()
    const directory: Directory = { watcher: watcherOf(path), entries: new Map() }
    this.#directories.set(path, directory)
    directory.watcher.on('change', (type, name) => this.#look(path, type, String(name)))
    directory.watcher.on('error', () => this.#lost(path))
    for (const name of readdirSync(path)) this.#add(directory, path, name, found)
  }

  #add(directory: Directory, folder: string, name: string, found: (path: string) => void): void {
    const path = join(folder, name)
    const stats = statsOf(path)
    if (stats === undefined) return
    directory.entries.set(name, looks(stats))
    found(path)
    if (this.#recursive && stats.isDirectory()) this.#enter(path, found)
  }

  /** Something happened to a name in a directory: compares what is there with what was known. */
  #look(folder: string, type: string, name: string): void {
    const directory = this.#directories.get(folder)
    if (directory === undefined) return
    const root = identityOf(this.#root)
    // The watches stay with a directory wherever it goes, and tell nothing of another that has its name now.
    if (root !== undefined && root !== this.#identity) return this.#lost(this.#root)
    const path = join(folder, name)
    const stats = statsOf(path)
    const before = directory.entries.get(name)
    if (stats === undefined) {
      if (before !== undefined) this.#remove(directory, path, name)
      if (root === undefined) this.#lost(this.#root)
    } else if (before === undefined) {
      this.#created(directory, folder, name)
    } else if (isAnother(before, looks(stats))) {
      this.#remove(directory, path, name)
      this.#created(directory, folder, name)
    } else if (type === 'change' || before !== looks(stats)) {
      directory.entries.set(name, looks(stats))
      this.#notify(ChangeType.CHANGED, path)
    }
  }

  #created(directory: Directory, folder: string, name: string): void {
    try {
      this.#add(directory, folder, name, (path) => this.#notify(ChangeType.CREATED, path))
    } catch {
      // It can't be watched, or has gone again: whoever reads should look.
      this.#notify(ChangeType.OVERFLOW, folder)
    }
  }

  #remove(directory: Directory, path: string, name: string): void {
    directory.entries.delete(name)
    this.#leave(path)
    this.#notify(ChangeType.REMOVED, path)
  }

  #leave(path: string): void {
    for (const [below, { watcher }] of this.#directories) {
      if (below !== path && !below.startsWith(`${path}/`)) continue
      watcher.close()
      this.#directories.delete(below)
    }
  }

  #lost(path: string): void {
    if (!this.#directories.has(path)) return
    this.#leave(path)
    this.#notify(path === this.#root ? ChangeType.REMOVED : ChangeType.OVERFLOW, path)
    if (path === this.#root) this.#gone()
  }
}

function watcherOf(path: string): FSWatcher {
  // A file can be watched, too.
  readdirSync(path)
  try {
    return watch(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'ENOSPC' || code === 'EMFILE' ? tooMany() : error
  }
}

function tooMany(): Failure {
  return new Failure('resource_exhausted', 'too_many_watches', 'There are too many directories to watch')
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // Not to be looked at: as good as not there.
    return undefined
  }
}

/** Which directory a path leads to; undefined for none. */
function identityOf(path: string): string | undefined {
  try {
    return identityIn(statSync(path))
  } catch {
    return undefined
  }
}

/** Not by its number alone: what is made next may have that of what was removed. */
function identityIn({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev}:${ino}:${birthtimeMs}`
}

/** Which file or directory it is, and how it looks. */
function looks(stats: Stats): string {
  const { mtimeMs, size, mode } = stats
  return `${stats.isDirectory() ? 'd' : 'f'}${identityIn(stats)} ${mtimeMs} ${size} ${mode}`
}

/** Another directory of the same name is another directory; a file may be replaced and is the same file, changed. */
function isAnother(before: string, after: string): boolean {
  return (before.startsWith('d') || after.startsWith('d')) && before.split(' ')[0] !== after.split(' ')[0]
}

type Response = MessageInitShape<typeof WatchDirectoryResponseSchema>

/** So many changes wait for a slow reader; then they are replaced by one that says that more happened. */
const mostWaiting = 1000

/** The changes in a directory, until the caller goes or the directory does. */
export async function* watchDirectory(
  { path, recursive }: WatchDirectoryRequest,
  { signal }: CallContext,
): AsyncGenerator<Response> {
  const root = pathFrom('/path', path)
  const changes = new MessageQueue<{ type: ChangeType; path: string }>(() => 1)
  const notify = (type: ChangeType, at: string) => {
    const { last } = changes
    if (last?.type === ChangeType.OVERFLOW || (last?.type === type && last.path === at)) return
    if (changes.unread < mostWaiting) return changes.push({ type, path: at })
    changes.clear()
    changes.push({ type: ChangeType.OVERFLOW, path: root })
  }
  const tree = watched(root, recursive, notify, () => changes.close())
  const stop = () => changes.close()
  signal.addEventListener('abort', stop, { once: true })
  try {
    yield {}
    for await (const change of changes) yield { change }
  } finally {
    signal.removeEventListener('abort', stop)
    tree.close()
  }
}

function watched(...args: ConstructorParameters<typeof DirectoryTree>): DirectoryTree {
  try {
    return new DirectoryTree(...args)
  } catch (error) {
    throw fileFault(error, '/path')
  }
}
