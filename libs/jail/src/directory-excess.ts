import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'

const blockBytes = 512
const MB = 1024 * 1024
// As in a private directory in memory.
const filesPerMb = 64

/** What is too much in a directory that may hold so much, in words; looks no further than that. */
export async function directoryExcess(directory: string, limitMb: number): Promise<string | undefined> {
  let bytes = 0
  let files = 0
  for (const open = [directory]; open.length > 0;) {
    for await (const entry of entriesOf(open.pop()!)) {
      files += 1
      if (entry.isDirectory) open.push(entry.path)
      bytes += entry.bytes
      if (bytes > limitMb * MB) return `more than ${limitMb} MiB`
      if (files > limitMb * filesPerMb) return `more than ${files - 1} files`
    }
  }
  return undefined
}

async function* entriesOf(directory: string) {
  try {
    for await (const entry of await opendir(directory)) {
      const path = join(directory, entry.name)
      const { blocks } = await lstat(path).catch(() => ({ blocks: 0 }))
      yield { path, isDirectory: entry.isDirectory(), bytes: blocks * blockBytes }
    }
  } catch {
    // It has just been removed, or is closed to us; then it is not counted.
  }
}
