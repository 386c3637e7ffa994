import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What this process holds, in bytes, once what earlier tests left is gone: where a measurement begins. */
export function memoryAtRest(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  // What buffers held is counted until it is swept, at the latest by the next one.
  collect()
  return memoryHeld()
}

/** What this process holds, in bytes. */
export function memoryHeld(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
