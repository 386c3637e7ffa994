import { constants } from 'node:fs'
import { access, chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where Linux has a file system in memory. */
const memory = '/dev/shm'
/** Many times what all that is in it at a time takes. */
const roomBytes = 4 * 1024 ** 3

/**
 * Makes a folder for data that goes with the tests: in memory where that has room, else where temporary files are. The
 * file system of a disk takes a quarter of the CPU time of tests that make many databases, and commits wait for the disk.
 */
export async function memoryFolder(prefix: string): Promise<string> {
  return mkdtemp(join((await hasRoom()) ? memory : tmpdir(), prefix))
}

/** Where folders of `memoryFolder` may be. */
export const memoryFolders: readonly string[] = [memory, tmpdir()]

async function hasRoom(): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(memory)
    return bavail * bsize >= roomBytes && (await runsPrograms())
  } catch {
    return false // there is none that we may use
  }
}

/** Many systems mount it for data alone; packages of npm have programs. */
async function runsPrograms(): Promise<boolean> {
  const folder = await mkdtemp(join(memory, 'runs-programs-'))
  try {
    const program = join(folder, 'program')
    await writeFile(program, '')
    await chmod(program, 0o755)
    await access(program, constants.X_OK)
    return true
  } finally {
    await rm(folder, { recursive: true })
  }
}
