import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { WriteFileRequest } from '@automation/contract/sandbox/v1/daemon'
import { Failure, invalid } from '@automation/errors'
import { pathFrom } from '../home.ts'
import { entryAt, type Entry } from './entry.ts'
import { faulting, notAFile } from './file-faults.ts'

const defaultMode = 0o644

/** Writes beside the file and takes its place once all is there and on disk; what breaks off leaves nothing. */
export async function writeFile(requests: AsyncIterable<WriteFileRequest>): Promise<Entry> {
  const incoming = requests[Symbol.asyncIterator]()
  const { value: first } = (await incoming.next()) as IteratorResult<WriteFileRequest, undefined>
  if (first?.message.case !== 'start') throw invalid('/start', 'must come first')
  const { path, mode = defaultMode, makeDirectories } = first.message.value
  if (mode > 0o7777) throw invalid('/start/mode', 'must be permission bits')
  const absolute = pathFrom('/start/path', path)
  if (path.endsWith('/')) throw invalid('/start/path', 'must name a file')
  return faulting('/start/path', async () => {
    const folder = dirname(absolute)
    if (makeDirectories) await mkdir(folder, { recursive: true })
    if ((await stat(absolute).catch(() => undefined))?.isDirectory()) throw notAFile()
    const aside = join(folder, `.${basename(absolute).slice(0, 100)}.${randomBytes(6).toString('hex')}.part`)
    try {
      await writeAll(aside, mode, incoming)
      await rename(aside, absolute)
    } catch (error) {
      await rm(aside, { force: true })
      throw error
    }
    return entryAt(absolute)
  })
}

async function writeAll(path: string, mode: number, incoming: AsyncIterator<WriteFileRequest>): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    for (let next = await incoming.next(); ; next = await incoming.next()) {
      if (next.done) throw new Failure('failed_precondition', 'broken_off', 'The file broke off before its end')
      const { message } = next.value
      if (message.case === 'end') break
      if (message.case !== 'data') throw invalid('/start', 'must come once, at the beginning')
      await file.writeFile(message.value)
    }
    await file.chmod(mode)
    await file.sync()
  } finally {
    await file.close()
  }
}
