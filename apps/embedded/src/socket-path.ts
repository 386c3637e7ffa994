import { openSync } from 'node:fs'
import { join, relative } from 'node:path'

// The shortest limit of the systems that we run on, with its closing NUL.
const longest = 103

/**
 * A path by which the socket `name` in `folder` can be bound or connected to, as such paths may only be some 100 bytes
 * long: the plain one where it fits, else one through a descriptor of the folder that stays open (Linux), or a relative one.
 */
export function socketPath(folder: string, name: string): string {
  const plain = join(folder, name)
  if (Buffer.byteLength(plain) <= longest) return plain
  if (process.platform === 'linux') return `/proc/self/fd/${openSync(folder, 'r')}/${name}`
  return relative(process.cwd(), plain)
}
