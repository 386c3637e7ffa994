import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readText } from './checkout.ts'
import { digestOf } from './canonical-json.ts'
import type { Item } from './states.ts'

/** What this checkout has last seen of an item on a server: it was taken into the files, or came from them. */
export interface Seen {
  digest: string
  state: Item['state']
  /** The commit that was checked out then, and its branch; both absent without git. */
  head?: string
  branch?: string
}

/** The states in `.pas/base`, which git ignores: a file an item, apart by server and team. They hold no secrets. */
export class SeenStates {
  readonly #folder: string
  readonly #at: { head?: string; branch?: string }

  constructor(project: string, target: { url: string; team: string }, at: { head?: string; branch?: string }) {
    this.#folder = join(project, '.pas/base', `${target.team}-${digestOf(target.url).slice(0, 12)}`)
    this.#at = at
  }

  async read(key: string): Promise<Seen | undefined> {
    const text = await readText(this.#path(key))
    return text === undefined ? undefined : (JSON.parse(text) as Seen)
  }

  async write({ key, state }: Item): Promise<void> {
    const path = this.#path(key)
    const { head, branch } = this.#at
    await mkdir(dirname(path), { recursive: true })
    const seen: Seen = { digest: digestOf(state), state, ...(head && { head }), ...(branch && { branch }) }
    await writeFile(`${path}.new`, JSON.stringify(seen))
    await rename(`${path}.new`, path)
  }

  remove(key: string): Promise<void> {
    return rm(this.#path(key), { force: true })
  }

  #path(key: string): string {
    // A schedule may be called by a comment that is longer than a file's name may be.
    const name = encodeURIComponent(key)
    return join(this.#folder, `${name.length > 150 ? digestOf(key) : name}.json`)
  }
}
