import { isConnectionFailure } from '@automation/database'
import type { Logger } from '@automation/service'
import { setTimeout as pause } from 'node:timers/promises'
import type { Engine } from './engine.ts'

export interface FirstStepsOptions {
  engine: Engine
  /** No other replica is there: what is RUNNING was a former process's. */
  exclusive: boolean
  /** Names of those that read the events. */
  readers: string[]
  logger: Logger
  signal: AbortSignal
}

const pauseMs = 500

/**
 * Makes true in the database what the first call relies on. Where that is lost meanwhile it begins anew, until `signal`
 * is aborted: then it rejects.
 */
export async function takeFirstSteps(options: FirstStepsOptions): Promise<void> {
  for (;;) {
    try {
      return await steps(options)
    } catch (error) {
      if (!isConnectionFailure(error) || options.signal.aborted) throw error
      options.logger.warn({ err: error }, 'the database was lost at the start, trying again')
      await pause(pauseMs, undefined, { signal: options.signal })
    }
  }
}

async function steps({ engine, exclusive, readers }: FirstStepsOptions): Promise<void> {
  await engine.upkeep.keepPartitions()
  if (exclusive) await engine.reaper.endAll('runner lost: the service was restarted while it ran')
  await engine.upkeep.recount()
  // From the first run on, nothing is missed.
  for (const reader of readers) await engine.outbox.register(reader)
}
