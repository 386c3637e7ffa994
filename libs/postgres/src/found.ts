import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** What PostgreSQL writes into postmaster.pid about itself. */
export interface Postmaster {
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
export async function readPostmaster(dataDir: string): Promise<Postmaster | undefined> {
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
export async function isPostmaster(pid: number, dataDir: string): Promise<boolean> {
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
