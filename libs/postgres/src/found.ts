import { readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Logger } from '@automation/service'
import { notStarted } from './launch.ts'

/** What PostgreSQL writes into postmaster.pid about itself. */
interface Postmaster {
  pid: number
  port: number
  /** Folder of its unix socket; empty when it has none. */
  socketFolder: string
}

/** Where the server keeps its files. */
export function clusterFolder(dataDir: string): string {
  return join(dataDir, 'data')
}

/** Where the password of the server is kept. */
export function passwordFile(dataDir: string): string {
  return join(dataDir, 'password')
}

/** The postmaster that says it holds this data, dead or alive; undefined when none does. */
async function readPostmaster(dataDir: string): Promise<Postmaster | undefined> {
  const text = await textOf(join(clusterFolder(dataDir), 'postmaster.pid'))
  if (text === undefined) return undefined
  const [pid, , , port, socketFolder = ''] = text.split('\n')
  return { pid: Number(pid), port: Number(port), socketFolder: socketFolder.trim() }
}

/** Address of a database on a server: through its socket where it has one, as that is the quicker way. */
export function addressOf(password: string, port: number, socketFolder: string): string {
  const host = socketFolder === '' ? '' : `?host=${encodeURIComponent(socketFolder)}`
  return `postgresql://postgres:${password}@127.0.0.1:${port}/postgres${host}`
}

/** The address of the server that runs on this data folder, for programs that did not start it; undefined when none runs. */
export async function findPostgres(folder: string): Promise<string | undefined> {
  const dataDir = resolve(folder)
  const [postmaster, password] = await Promise.all([readPostmaster(dataDir), textOf(passwordFile(dataDir))])
  if (postmaster === undefined || password === undefined || !(await isPostmaster(postmaster.pid, dataDir)))
    return undefined
  return addressOf(password, postmaster.port, postmaster.socketFolder)
}

/** Whether this process is a live PostgreSQL server of this data folder: no zombie, no stranger with the same number. */
async function isPostmaster(pid: number, dataDir: string): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid)) return false
  const command = await textOf(`/proc/${pid}/cmdline`)
  // Without /proc only its own lock tells.
  if (command === undefined) return process.platform !== 'linux'
  return command.split('\0').includes(clusterFolder(dataDir))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The text of a file; undefined where there is none. */
export async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}

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
