import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RunningProgram } from './started.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))

/** Told to Node before the program: V8 then tells on a free port what it executes. */
export const inspected = '--inspect=127.0.0.1:0'

interface Coverage {
  result: { url: string; functions: { ranges: { count: number }[] }[] }[]
}

/** Source files of ours, hand-written, with functions that a program has executed, its main thread alone. */
export class ExecutedFiles {
  readonly #socket: WebSocket
  readonly #answers = new Map<number, (result: unknown) => void>()
  #asked = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown }
      this.#answers.get(id)?.(result)
    })
  }

  /** Of a program that was started `inspected`. */
  static async of({ output }: RunningProgram): Promise<ExecutedFiles> {
    const [address = ''] = /ws:\/\/\S+/.exec(output.stderr) ?? []
    const socket = new WebSocket(address)
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', reject)
    })
    const executed = new ExecutedFiles(socket)
    await executed.#ask('Profiler.enable')
    await executed.#ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    return executed
  }

  /** What this executes, with what else the program does meanwhile. */
  async during(work: () => Promise<unknown>): Promise<string[]> {
    await this.#take()
    await work()
    return this.#take()
  }

  close(): void {
    this.#socket.close()
  }

  /** Since it was last asked. */
  async #take(): Promise<string[]> {
    const { result } = (await this.#ask('Profiler.takePreciseCoverage')) as Coverage
    const executed = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
    const files = executed.filter(({ url }) => url.startsWith('file:')).map(({ url }) => fileURLToPath(url))
    return files.map((file) => relative(repository, file)).filter((file) => /^(apps|libs)\/[^/]+\/src\//.test(file))
  }

  #ask(method: string, params: object = {}): Promise<unknown> {
    const id = (this.#asked += 1)
    const { promise, resolve } = Promise.withResolvers<unknown>()
    this.#answers.set(id, resolve)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return promise
  }
}
