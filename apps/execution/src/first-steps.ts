import { untilReachable } from '@automation/database'
import type { Logger } from '@automation/service'
import type { Engine } from './engine.ts'
import { executionSchema } from './store/pools.ts'

export interface FirstStepsOptions {
  engine: Engine
  /** No other replica is there: what is RUNNING was a former process's. */
  exclusive: boolean
  /** Names of those that read the events. */
  readers: string[]
  logger: Logger
  signal: AbortSignal
}

/**
 * Makes true in the database what the first call relies on. Where that is lost meanwhile it begins anew, until `signal`
 * is aborted: then it rejects.
 */
export async function takeFirstSteps(options: FirstStepsOptions): Promise<void> {
  const { schema } = executionSchema
  await untilReachable({ ...options, schema }, () => steps(options))
}

async function steps({ engine, exclusive, readers }: FirstStepsOptions): Promise<void> {
  await engine.upkeep.keepPartitions()
  // From the first run on, nothing is missed.
  await engine.outbox.register(readers)
  if (exclusive) await engine.reaper.endAll('runner lost: the service was restarted while it ran')
  await engine.upkeep.recount()
}
