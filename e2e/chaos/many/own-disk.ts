import { execFile, spawnSync } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** What nobody fills here; memory is taken for what is written alone. */
const roomMb = 4096

/** A file system of its own, in memory, so that it can be full and nothing else is. */
export class OwnDisk {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
    process.once('exit', this.#atExit)
  }

  /** On a folder that is there, for a user and its group. Wants the rights of root. */
  static async mount(folder: string, { uid, gid }: { uid: number; gid: number }): Promise<OwnDisk> {
    const options = `size=${roomMb}m,mode=700,uid=${uid},gid=${gid}`
    await run('mount', ['-t', 'tmpfs', '-o', options, 'automation-chaos', folder])
    return new OwnDisk(folder)
  }

  /** Leaves no room for one byte more. */
  async fill(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const { blocks, bfree, bsize } = await statfs(this.#folder)
      // Where more has been written meanwhile, it is refused.
      const isFull = await this.#resize(`${(blocks - bfree) * bsize}`).then(
        () => true,
        () => false,
      )
      if (isFull) return
      if (tries === 100) throw new Error(`${this.#folder} can't be filled`)
      await delay(10)
    }
  }

  /** Gives it its room again. */
  empty(): Promise<void> {
    return this.#resize(`${roomMb}m`)
  }

  async unmount(): Promise<void> {
    process.off('exit', this.#atExit)
    await run('umount', ['--lazy', this.#folder])
  }

  readonly #atExit = () => void spawnSync('umount', ['--lazy', this.#folder])

  async #resize(size: string): Promise<void> {
    await run('mount', ['-o', `remount,size=${size}`, this.#folder])
  }
}
