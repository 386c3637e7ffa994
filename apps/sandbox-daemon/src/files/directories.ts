import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pathDenied } from './file-faults.ts'

/**
 * Makes a directory with those above it; one that is there stays as it is. Node's own way never ends where the kernel says
 * ENOENT of what can't be made, as below /proc.
 */
export async function makeDirectories(path: string): Promise<void> {
  if (await isMade(path)) return
  await makeDirectories(dirname(path))
  if (!(await isMade(path))) throw pathDenied({ cause: new Error(`The kernel makes no ${path}`) })
}

/** False where what is above it is missing. */
async function isMade(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return false
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return true
    throw error
  }
}
