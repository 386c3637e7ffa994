import { readSync, writeSync } from 'node:fs'
import { Script } from 'node:vm'

/**
 * A warm child with nothing around it: reads a frame from descriptor 3, evaluates the program given as its argument (an
 * expression that is a function of the parameters) afresh, and writes what it gives to 4.
 */
const program = new Script(process.argv[2] ?? '')
const head = Buffer.alloc(4)

for (;;) {
  if (!fill(head)) break
  const body = Buffer.alloc(head.readUInt32LE())
  if (!fill(body)) break
  const run = program.runInThisContext() as (parameters: unknown) => unknown
  const result = Buffer.from(JSON.stringify(run(JSON.parse(body.toString()))))
  const frame = Buffer.alloc(4 + result.length)
  frame.writeUInt32LE(result.length)
  result.copy(frame, 4)
  writeSync(4, frame)
}

function fill(buffer: Buffer): boolean {
  for (let at = 0; at < buffer.length;) {
    const count = readSync(3, buffer, at, buffer.length - at, null)
    if (count === 0) return false
    at += count
  }
  return true
}
