import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseLossless } from '../exact-json.ts'
import { readText, writeCheckout } from './checkout.ts'
import { digestOf } from './canonical-json.ts'
import { keys, type Item } from './states.ts'

/** What this checkout has last seen of an item on a server: it was taken into the files, or came from them. */
export interface Seen {
  digest: string
  state: Item['state']
  /** The commit that was checked out then, and its branch; both absent without git. */
  head?: string
  branch?: string
  /**
   * Only where pull took it from others: the common state before. It counts again where the files do not have what was
   * taken, because it was discarded before a commit had it. Null is none, absent one that is not known.
   */
  from?: { state?: Item['state'] | null }
}

/** The states in `.pas/base`, which git ignores: a file an item, apart by server and team. They hold no secrets. */
export class SeenStates {
  readonly #project: string
  readonly #folder: string
  readonly #at: { head?: string; branch?: string }

  constructor(project: string, target: { url: string; team: string }, at: { head?: string; branch?: string }) {
    this.#project = project
    this.#folder = `.pas/base/${target.team}-${digestOf(target.url).slice(0, 12)}`
    this.#at = at
  }

  async read(key: string): Promise<Seen | undefined> {
    const text = await readText(join(this.#project, this.#path(key)))
    return text === undefined ? undefined : (parseLossless(text) as Seen)
  }

  /** Remembers a state that the files had: no edit of others is lost with it. */
  async write(item: Item): Promise<void> {
    await this.#write(item)
  }

  /** Remembers a state of others that pull has put into the files, with the common state before (as in `from`). */
  async take(item: Item, before: Item['state'] | null | undefined): Promise<void> {
    const seen = await this.read(item.key)
    // What was pulled since the last commit is discarded together.
    const isSameCommit = seen?.from !== undefined && seen.head === this.#at.head && seen.branch === this.#at.branch
    await this.#write(item, isSameCommit ? seen.from : { ...(before !== undefined && { state: before }) })
  }

  /** Remembers a state that the server still has: where it was taken, what was there before stays known. */
  async keep(item: Item, isInFiles: boolean): Promise<void> {
    const seen = await this.read(item.key)
    if (seen?.digest !== digestOf(item.state)) await this.#write(item)
    else if (isInFiles) await this.#write(item, seen.from)
  }

  /** Forgets an item, and the schedules of a process with it. */
  async remove(key: string): Promise<void> {
    await writeCheckout(this.#project, this.#path(key), null)
    const [kind, slug = ''] = key.split('/')
    if (kind !== 'process') return
    const prefix = encodeURIComponent(keys.schedule(slug, ''))
    const names = await readdir(join(this.#project, this.#folder)).catch(noFolder)
    for (const name of names)
      if (name.startsWith(prefix)) await writeCheckout(this.#project, `${this.#folder}/${name}`, null)
  }

  async #write({ key, state }: Item, from?: Seen['from']): Promise<void> {
    const { head, branch } = this.#at
    const seen: Seen = {
      digest: digestOf(state),
      state,
      ...(head && { head }),
      ...(branch && { branch }),
      ...(from && { from }),
    }
    await writeCheckout(this.#project, this.#path(key), JSON.stringify(seen))
  }

  #path(key: string): string {
    // A schedule may be called by a comment that is longer than a file's name may be.
    const name = encodeURIComponent(key)
    const [kind, slug = ''] = key.split('/')
    const prefix = kind === 'schedule' ? encodeURIComponent(keys.schedule(slug, '')) : ''
    return `${this.#folder}/${name.length > 150 ? `${prefix}${digestOf(key)}` : name}.json`
  }
}

function noFolder(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}
