import { Status } from '@automation/contract/execution/v1/execution'
import type { InstallService } from '@automation/contract/execution/v1/install'
import { runnerCutOff, runnerLost, serviceStopped } from '@automation/contract/installs'
import { PackageSetService } from '@automation/contract/storage/v1/package_set'
import { Failure, isPassing } from '@automation/errors'
import { asService, ownContext, type CallContext, type Client, type Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'
import type { Dependencies } from './manifest.ts'
import type { Metrics } from '../metrics.ts'
import type { ManifestRow } from '../store/dependencies.ts'
import { settleInstalls, type InstallOutcome } from '../store/install-records.ts'
import {
  beginInstall,
  countInstalls,
  dueManifests,
  finishInstall,
  noteExecution,
  renewInstall,
  setsInUse,
} from '../store/installs.ts'
import type { Store } from '../store/store.ts'

interface InstallsContext {
  store: Store
  installs: Client<typeof InstallService>
  installTimeoutMs: number
  logger: Logger
}

const callTimeoutMs = 5000

/** So often in a row an install that ended with this, as it was cut off, begins again: it may itself be what ends its runner. */
const mostRenewals = { [serviceStopped]: 5, [runnerLost]: 1, [runnerCutOff]: 1 }

const leastPauseMs = 500
const mostPauseMs = 5000

/** Begins installs that are due, and takes up the ends of those that are over. Any replica may. */
export class Installs {
  readonly #context: InstallsContext
  /** Teams with an install that could not go on, and when they are looked at again. */
  readonly #paused = new Map<string, { untilMs: number; pauseMs: number }>()
  /** How often in a row the install of a manifest, by its id, has been cut off. */
  readonly #cutOff = new Map<string, number>()

  constructor(context: InstallsContext) {
    this.#context = context
  }

  /** One look at some teams. */
  async advance(): Promise<void> {
    const { store } = this.#context
    await settleInstalls(store)
    const now = performance.now()
    for (const [team, { untilMs }] of this.#paused) if (untilMs + mostPauseMs < now) this.#paused.delete(team)
    const paused = [...this.#paused].filter(([, { untilMs }]) => untilMs > now).map(([team]) => team)
    const byTeam = Map.groupBy(await dueManifests(store, paused), ({ team }) => team)
    await Promise.all([...byTeam].map(([team, manifests]) => this.#advanceTeam(team, manifests)))
  }

  async #advanceTeam(team: string, manifests: ManifestRow[]): Promise<void> {
    const { logger } = this.#context
    let isHeldUp = false
    for (const manifest of manifests) {
      try {
        await this.#advanceOne(manifest)
      } catch (error) {
        logger.warn({ err: error, team, installId: manifest.installId }, 'an install waits')
        isHeldUp = true
        // The others of this team would wait for the same.
        if (isPassing(error)) break
      }
    }
    if (!isHeldUp) return void this.#paused.delete(team)
    const pauseMs = Math.min((this.#paused.get(team)?.pauseMs ?? leastPauseMs / 2) * 2, mostPauseMs)
    this.#paused.set(team, { untilMs: performance.now() + pauseMs, pauseMs })
  }

  async #advanceOne(manifest: ManifestRow): Promise<void> {
    const { store, installs, installTimeoutMs } = this.#context
    const { id, team, installId, executionId } = manifest
    if (installId === null) return beginInstall(store, manifest)
    const call = ownContext(asService('process-catalog', team), callTimeoutMs)
    if (executionId === null) {
      const started = await installs.startInstall({ installId, timeoutMs: installTimeoutMs }, call)
      return noteExecution(store, manifest, started.executionId)
    }
    const install = await found(installs.getInstall({ executionId }, call))
    const outcome = outcomeOf(install)
    if (outcome === undefined) return
    const cutOff = this.#cutOff.get(id) ?? 0
    const explanation = install?.explanation ?? ''
    const [, most = 0] = Object.entries(mostRenewals).find(([end]) => explanation.startsWith(end)) ?? []
    if (cutOff < most) {
      this.#cutOff.set(id, cutOff + 1)
      return renewInstall(store, manifest, explanation)
    }
    this.#cutOff.delete(id)
    await finishInstall(store, manifest, outcome)
  }
}

/** Tells how many installs there are, and since when. */
export async function measureInstalls(store: Store, metrics: Metrics): Promise<void> {
  const { count, oldestMs } = await countInstalls(store)
  metrics.installs.set(count)
  metrics.installsOldest.set(oldestMs / 1000)
}

type Found = Awaited<ReturnType<Client<typeof InstallService>['getInstall']>>

async function found(answer: Promise<Found>): Promise<Found | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found') return undefined
    throw error
  }
}

function outcomeOf(install: Found | undefined): InstallOutcome | undefined {
  if (install === undefined) return { error: 'The installation is not known any more' }
  const { status, returnValue, explanation } = install
  if (status === Status.FINISHED) {
    const { digest = '', resolved } = JSON.parse(returnValue ?? '{}') as { digest?: string; resolved?: Dependencies }
    return { digest, resolved }
  }
  const isOver = status === Status.ERROR || status === Status.KILLED || status === Status.REJECTED
  return isOver ? { error: explanation?.replace(/^InstallError: /, '') ?? 'The installation was ended' } : undefined
}

/** Whether the set of an install is kept; true also where there is no storage: then runners install it for themselves. */
export async function isSetKept(
  sets: Client<typeof PackageSetService>,
  key: string,
  call: CallContext,
): Promise<boolean> {
  try {
    return (await sets.hasSet({ key }, call)).isThere
  } catch (error) {
    if (error instanceof Failure && (error.kind === 'unavailable' || error.kind === 'unimplemented')) return true
    throw error
  }
}

const pageSize = 500
const timeoutMs = 20_000

/** Tells storage which sets of packages manifests refer to; what it is not told of for long, it removes. */
export function keptSets(store: Store, neighbours: Neighbours, logger: Logger): () => Promise<void> {
  const sets = neighbours.client(PackageSetService)
  return async () => {
    try {
      await sets.keepSets(pages(store), ownContext(asService('process-catalog'), timeoutMs))
    } catch (error) {
      // A system without an object store has no storage.
      if (!(error instanceof Failure && (error.kind === 'unavailable' || error.kind === 'unimplemented'))) throw error
      logger.debug({ err: error }, 'storage is not told of sets of packages')
    }
  }
}

async function* pages(store: Store) {
  for (let after = ''; ;) {
    const rows = await setsInUse(store, after, pageSize)
    const sets = rows.flatMap(({ team, keys }) => keys.map((key) => ({ team, key })))
    const isLast = rows.length < pageSize
    yield { sets, isLast }
    if (isLast) return
    after = rows.at(-1)!.id
  }
}
