import type { Neighbours, ServedService } from '@automation/rpc'
import type { Tracer } from '@automation/tracing'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'

/** One thing that `/readyz` tells: its name, whether it is well, and words for people. */
export interface Check {
  name: string
  ok: boolean
  detail?: string
  /** What would make it better, where it is well but could be better. */
  advice?: string
}

/** What every part is given beside its own configuration. */
export interface PartContext {
  neighbours: Neighbours
  /** Where other processes reach what the part serves, as host:port; absent where none do. */
  address?: string
  logger: Logger
  metrics: Registry
  /** Where traces are wanted. */
  tracer?: Tracer
  /** What `ready` of every part in this process says, itself included; absent: the part asks only itself. */
  readiness?(): Promise<Check[]>
}

/**
 * A part of the system as its `service.ts` makes it: what it serves to other parts, and how it starts and stops.
 * Nothing happens before `start`; `stop` undoes it, in reverse, and may be called twice.
 */
export interface Part {
  name: string
  /** The proto services that it implements; empty for parts that only call. */
  serves: ServedService[]
  start(): Promise<void>
  /**
   * Begins nothing new from now on; what is under way goes on, and what it asks for is answered. Called before `stop`, which
   * may have to wait for other parts.
   */
  quiesce?(): void
  /** Ends within `graceMs`: no new work at once, what runs may finish in that time. */
  stop(graceMs: number): Promise<void>
  ready(): Promise<Check[]>
}
