import { spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('floor-child.ts', import.meta.url))

/** A warm child and its queue of one-at-a-time runs; the frames are length-prefixed JSON. */
export function warmChild(): { run(parametersJson: string): Promise<string>; stop(): void } {
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'] })
  const requests = child.stdio[3] as Writable
  const results = child.stdio[4] as Readable
  const waiting: ((result: string) => void)[] = []
  let received: Buffer = Buffer.alloc(0)
  results.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    while (received.length >= 4 && received.length >= 4 + received.readUInt32LE()) {
      const end = 4 + received.readUInt32LE()
      waiting.shift()?.(received.toString('utf8', 4, end))
      received = received.subarray(end)
    }
  })
  return {
    run: (parametersJson) =>
      new Promise((resolve) => {
        waiting.push(resolve)
        const body = Buffer.from(parametersJson)
        const frame = Buffer.alloc(4 + body.length)
        frame.writeUInt32LE(body.length)
        body.copy(frame, 4)
        requests.write(frame)
      }),
    stop: () => child.kill('SIGKILL'),
  }
}
