import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { ReadFileRequest } from '@automation/contract/sandbox/v1/daemon'
import { pathFrom } from '../home.ts'
import { faulting, notAFile } from './file-faults.ts'

const chunkBytes = 64 * 1024

/** The bytes of a file, from `offset` on. */
export async function* readFile({ path, offset, length }: ReadFileRequest): AsyncGenerator<{ data: Uint8Array }> {
  const absolute = pathFrom('/path', path)
  // Without waiting: to open a pipe that nobody writes to would never end.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK
  const file = await faulting('/path', () => open(absolute, flags))
  try {
    if (!(await file.stat()).isFile()) throw notAFile()
    let position = offset
    for (let left = length; left === undefined || left > 0n;) {
      const wanted = left === undefined || left > BigInt(chunkBytes) ? chunkBytes : Number(left)
      // A new one each time: what was given away is not sent yet.
      const from = position
      const { bytesRead, buffer } = await faulting('/path', () =>
        file.read(Buffer.allocUnsafe(wanted), 0, wanted, from),
      )
      if (bytesRead === 0) return
      yield { data: buffer.subarray(0, bytesRead) }
      position += BigInt(bytesRead)
      if (left !== undefined) left -= BigInt(bytesRead)
    }
  } finally {
    await file.close()
  }
}
