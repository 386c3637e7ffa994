import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pod, Release } from './release.ts'

const lookMs = 500
const warning = /"level":"(warn|error|fatal)"/

/** Follows what the pods of a component warn of, also those that come and go meanwhile. */
export class Warnings {
  readonly lines: string[] = []
  readonly #release: Release
  readonly #component: string
  readonly #followed = new Map<string, ChildProcess>()
  #isOver = false
  readonly #going: Promise<void>

  constructor(release: Release, component: string) {
    this.#release = release
    this.#component = component
    this.#going = this.#goOn().catch((error: Error) => void this.lines.push(error.message))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#going
    for (const child of this.#followed.values()) child.kill()
  }

  async #goOn(): Promise<void> {
    while (!this.#isOver) {
      for (const pod of await this.#release.pods(this.#component))
        if (pod.status.phase === 'Running' && !this.#followed.has(pod.metadata.name)) this.#follow(pod)
      await delay(lookMs)
    }
  }

  #follow({ metadata: { name: pod, namespace } }: Pod): void {
    const args = ['logs', '--follow', '--namespace', namespace, pod]
    const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'ignore'] })
    this.#followed.set(pod, child)
    // As when its container has not begun.
    child.on('exit', (code) => code !== 0 && this.#followed.delete(pod))
    createInterface(child.stdout).on('line', (line) => {
      if (warning.test(line)) this.lines.push(`${pod} ${line}`)
    })
  }
}
