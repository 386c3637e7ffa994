import { spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { python } from './python.ts'

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url))

export interface WarmChild {
  /** Gives the result as JSON. Throws when the child is gone. */
  run(parametersJson: string): Promise<string>
  stop(): void
}

/** A warm Node that evaluates a program, which is an expression that gives a function of the parameters, for each run. */
export function warmNode(program: string): WarmChild {
  return warmChild(process.execPath, [beside('floor-child.ts'), program])
}

/** A warm Python that evaluates a program, which defines `main(parameters)`, for each run; in a fork if asked for. */
export function warmPython(program: string, how: 'inPlace' | 'fork'): WarmChild {
  const args = ['-I', beside('floor-child.py'), program]
  return warmChild(python().file, how === 'fork' ? [...args, 'fork'] : args)
}

/** The queue of one-at-a-time runs of a warm child; the frames are length-prefixed JSON. */
function warmChild(file: string, args: string[]): WarmChild {
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'] })
  const requests = child.stdio[3] as Writable
  const results = child.stdio[4] as Readable
  const waiting: { resolve(result: string): void; reject(error: Error): void }[] = []
  let received: Buffer = Buffer.alloc(0)
  results.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    while (received.length >= 4 && received.length >= 4 + received.readUInt32LE()) {
      const end = 4 + received.readUInt32LE()
      waiting.shift()?.resolve(received.toString('utf8', 4, end))
      received = received.subarray(end)
    }
  })
  requests.on('error', () => undefined) // told by the exit
  child.once('exit', () => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`a warm child ended: ${file}`))
  })
  return {
    run: (parametersJson) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        const body = Buffer.from(parametersJson)
        const frame = Buffer.alloc(4 + body.length)
        frame.writeUInt32LE(body.length)
        body.copy(frame, 4)
        requests.write(frame)
      }),
    stop: () => child.kill('SIGKILL'),
  }
}
