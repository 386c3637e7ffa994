import type { Client } from '@automation/client'
import { join } from 'node:path'
import { readFailure } from '../failure.ts'
import { parseObject } from '../options/parameters.ts'
import { followRun } from '../runs/follow-run.ts'
import { listenerFor, showEnd } from '../runs/show-run.ts'
import { readDraft, startDraft, type Draft } from '../runs/start-run.ts'
import type { Runtime } from '../runtime.ts'
import { readText } from './checkout.ts'
import { readSettings } from './process-folder.ts'

interface DevOptions {
  slug: string
  folder: string
  /** That settings are read for. */
  context?: string | undefined
  /** Those of the command line; undefined where it has none. */
  readParameters(): Promise<Record<string, unknown> | undefined>
}

const sources = ['main.js', 'main.ts', 'main.py']

/** Runs a draft of a process at once and after each change, until it is ended. */
export class DevLoop {
  readonly #runtime: Runtime
  readonly #client: Client
  readonly #options: DevOptions
  #running: string | undefined
  #isChanged = true
  #isEnded = false
  #wake = () => {}

  constructor(runtime: Runtime, client: Client, options: DevOptions) {
    this.#runtime = runtime
    this.#client = client
    this.#options = options
  }

  /** A file was saved: what runs is of an earlier one. */
  changed(): void {
    this.#isChanged = true
    this.#stopRun()
    this.#wake()
  }

  end(): void {
    this.#isEnded = true
    this.#stopRun()
    this.#wake()
  }

  /** Goes on until `end`. A fault of a file or of a run is told, and the next save is waited for. */
  async run(): Promise<void> {
    const { out, env } = this.#runtime
    while (!this.#isEnded) {
      if (this.#isChanged) {
        this.#isChanged = false
        await this.#runOnce().catch(async (error: unknown) => {
          const failure = await readFailure(error, env)
          if (failure.message !== '') out.fail(failure)
        })
        if (!this.#isChanged && !this.#isEnded) out.say(out.style('dim', 'waiting for a file to be saved', 'stderr'))
      } else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async #runOnce(): Promise<void> {
    const { slug, readParameters } = this.#options
    const draft = await this.#draft()
    const parameters = (await readParameters()) ?? (await this.#usualParameters())
    const id = await startDraft(this.#client, draft, slug, { ...(parameters && { parameters }), comment: 'pas dev' })
    this.#running = id
    try {
      // It may have been saved again while the run was being started.
      if (this.#isChanged || this.#isEnded) this.#stopRun()
      await followRun(this.#client, id, listenerFor(this.#runtime))
      if (!this.#isChanged && !this.#isEnded) showEnd(this.#runtime, await this.#client.executions.get(id))
    } finally {
      this.#running = undefined
    }
  }

  async #draft(): Promise<Draft> {
    const { slug, folder, context } = this.#options
    const texts = await Promise.all(sources.map((name) => readText(join(folder, name))))
    const name = sources.find((_, index) => texts[index] !== undefined)
    if (name === undefined) throw new Error(`${folder} has none of ${sources.join(', ')}`)
    const { settings } = readSettings(await readText(join(folder, 'process.yaml')), slug, context)
    const hasPackages = Object.keys(settings.packages).length > 0
    const draft = await readDraft(join(folder, name))
    return { ...draft, ...(hasPackages && { manifest: { dependencies: settings.packages } }) }
  }

  async #usualParameters(): Promise<Record<string, unknown> | undefined> {
    const path = join(this.#options.folder, 'params/default.json')
    const text = await readText(path)
    return text === undefined ? undefined : parseObject(text, path)
  }

  #stopRun(): void {
    if (this.#running === undefined) return
    const id = this.#running
    this.#client.executions.kill(id).catch((error: Error) => {
      this.#runtime.out.say(`The run ${id} could not be killed: ${error.message}`)
    })
  }
}
