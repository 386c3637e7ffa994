import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '@automation/service'
import { clusterFolder, isPostmaster, readPostmaster } from './found.ts'
import { notStarted } from './not-started.ts'

/**
 * Ends a server that an earlier run left behind on this data, and removes the lock of one that is gone: its number may
 * meanwhile belong to a stranger, which PostgreSQL would take for the server. The caller holds the data folder's own lock.
 */
export async function stopLeftOver(dataDir: string, logger: Logger): Promise<void> {
  const postmaster = await readPostmaster(dataDir)
  if (postmaster === undefined) return
  if (!(await isPostmaster(postmaster.pid, dataDir))) {
    await rm(join(clusterFolder(dataDir), 'postmaster.pid'), { force: true })
    return
  }
  logger.warn({ pid: postmaster.pid }, 'stopping a PostgreSQL server that an earlier run left behind')
  for (const [signal, waitMs] of [
    ['SIGINT', 4000],
    ['SIGQUIT', 2000],
    ['SIGKILL', 1000],
  ] as const) {
    kill(postmaster.pid, signal)
    // One that was frozen hears nothing before it goes on.
    kill(postmaster.pid, 'SIGCONT')
    if (await gone(postmaster.pid, dataDir, waitMs)) return
  }
  throw notStarted(`process ${postmaster.pid}, a server on the same data, does not end. End it and start again`)
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH') return
    if (code === 'EPERM') throw notStarted(`process ${pid}, a server on the same data, belongs to another user`, error)
    throw error
  }
}

async function gone(pid: number, dataDir: string, waitMs: number): Promise<boolean> {
  for (const until = Date.now() + waitMs; Date.now() < until;) {
    if (!(await isPostmaster(pid, dataDir))) return true
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}
