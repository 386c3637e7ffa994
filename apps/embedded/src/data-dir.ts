import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@automation/errors'
import type { CalledService } from '@automation/service'
import { claim, holderOf, type ClaimHolder } from '@automation/service/claim'

/** What a holder of the data folder tells those who come later. */
interface Holding {
  /** `embedded`: npm start; `services`: npm run start:services; `admin`: the command line, for a moment. */
  kind: 'embedded' | 'services' | 'admin'
  /** Where its REST interface is; empty while it starts. */
  address: string
  /** Where its console is; absent while it starts, and where it has none. */
  consoleUrl?: string
  /** For `services`: host:port of those that an operator calls; absent while they start. */
  addresses?: Record<CalledService, string>
  /** When it took the folder, RFC 3339. */
  since: string
}

export interface Holder extends Holding {
  pid: number
}

/** The data folder, held by this process alone. */
interface DataDir {
  path: string
  tell(details: Pick<Holding, 'address' | 'consoleUrl' | 'addresses'>): void
  release(): void
}

const adminTurnMs = 60_000

/**
 * Takes the data folder; made when absent. Waits for an admin command that has it for a moment.
 * Failure `data_dir_held` says who holds it, `data_dir_unusable` that it can't be written.
 */
export async function takeDataDir(folder: string, kind: Holding['kind']): Promise<DataDir> {
  const path = resolve(folder)
  makeFolder(path)
  const holding: Holding = { kind, address: '', since: new Date().toISOString() }
  for (const until = Date.now() + adminTurnMs; ;) {
    const taken = await claim(lockFolder(path), { ...holding }).catch((error: unknown) => {
      throw unusable(path, error)
    })
    if (taken.held) {
      return {
        path,
        tell: (details) => taken.tell({ ...holding, ...details }),
        release: taken.release,
      }
    }
    const holder = asHolder(taken.holder)
    if (holder.kind !== 'admin' || Date.now() > until) throw heldBy(path, holder)
    await pause(100)
  }
}

/** Who holds the data folder now, if anybody does. Failure: data_dir_unusable. */
export function dataDirHolder(folder: string): Holder | undefined {
  const path = resolve(folder)
  try {
    const holder = holderOf(lockFolder(path))
    return holder === undefined ? undefined : asHolder(holder)
  } catch (error) {
    throw unusable(path, error)
  }
}

function lockFolder(path: string): string {
  return join(path, 'lock')
}

function asHolder({ pid, details }: ClaimHolder): Holder {
  return { pid, ...(details as unknown as Holding) }
}

function heldBy(path: string, { pid, kind, address, since }: Holder): Failure {
  const does = { embedded: 'npm start', services: 'npm run start:services', admin: 'npm run admin' }[kind]
  const where = address === '' ? 'still starting or already stopping' : `at ${address}`
  return new Failure(
    'failed_precondition',
    'data_dir_held',
    `DATA_DIR ${path} is held by process ${pid} (${does}, ${where}, since ${since}). ` +
      `Stop that one first (kill ${pid}), or start this one with another DATA_DIR and another PORT.`,
  )
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true })
  } catch (error) {
    throw unusable(path, error)
  }
}

const remedy = 'Name a folder that this account may write.'
const remedies: Record<string, string> = {
  EACCES: 'Start this as the account that the folder belongs to, or with another DATA_DIR.',
  ENOSPC: 'Its disk is full: make room there, or start this with another DATA_DIR.',
}

function unusable(path: string, error: unknown): Failure {
  const code = (error as NodeJS.ErrnoException).code ?? String(error)
  return new Failure(
    'failed_precondition',
    'data_dir_unusable',
    `DATA_DIR ${path} can't be made or written (${code}). ${remedies[code] ?? remedy}`,
    { cause: error },
  )
}
