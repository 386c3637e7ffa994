import type { Failure } from '@automation/errors'
import type { Check } from '@automation/service'
import type { Image } from '../catalogue.ts'

/** A sandbox as a driver is asked for it. Its row is there before. */
export interface SandboxOrder {
  id: string
  team: string
  image: Image
  /** By which the system speaks to its daemon. */
  daemonKey: string
  /** By which its users do. */
  grpcApiKey: string
}

/** What a driver tells without being asked. */
export interface DriverEvents {
  /** A sandbox whose daemon answered has ended by itself; the reason is in words. */
  ended(id: string, reason: string): void
}

/**
 * Where sandboxes run. One driver serves any number of replicas of the service; ids are those of the rows. What can be
 * kept ready is the driver's own matter: such sandboxes belong to nobody and are in no list.
 */
export interface Driver {
  /** As SANDBOX_DRIVER names it; rows keep it. */
  readonly name: string
  /** Whether sandboxes go on when this process ends. Where they don't, nothing of a former process is there. */
  readonly outlivesService: boolean
  /** Why one has ended that `list` no longer has, in words for its users. */
  readonly lostReason: string
  start(events: DriverEvents): Promise<void>
  /** Why there can be no new sandboxes for the moment; undefined where there can. */
  refusal?(): Failure | undefined
  /**
   * Makes a sandbox and resolves when its daemon has been given it, with the daemon's address: `host:port` or
   * `unix:/path`. SandboxFault when it can't be had, and nothing of it is left; so too when it is ended meanwhile.
   * Once more for the same id gives the same sandbox.
   */
  create(order: SandboxOrder): Promise<string>
  /** Resolves when nothing of it is left; one that is not there is no error. */
  end(id: string): Promise<void>
  /** The ids of all that it holds, those that start included. */
  list(): Promise<string[]>
  /** What it keeps ready, where it does: of each image those that are, and as many as there shall be. */
  spares?(): { image: string; ready: number; wanted: number }[]
  ready(): Promise<Check[]>
  /** Lets go; ends what does not outlive this process. */
  stop(): Promise<void>
}

/** Why there is no sandbox, in words for its users; `cause` is for the log. */
export class SandboxFault extends Error {
  override readonly name = 'SandboxFault'
}
