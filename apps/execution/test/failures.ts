import { LogLevel } from '@automation/contract/execution/v1/execution'
import { FiringService } from '@automation/contract/execution/v1/firing'
import type { Run } from '@automation/contract/runner/v1/runner'
import { serviceContext, until, userContext } from '@automation/testing'
import { v7 } from 'uuid'
import { nothing, type End, type ScriptedRunner } from './scripted-runner.ts'
import type { System } from './system.ts'

export const broken: End = { case: 'failed', value: { explanation: 'Error: broken' } }

/** Processes named `fails…` fail, with a stack in their log; others do nothing. */
export function failing(run: Run, runner: ScriptedRunner): End {
  if (!runner.specs.get(run.specKey)!.processSlug.startsWith('fails')) return nothing
  const { executionId, fence } = run
  const message = 'Error: broken\n    at main (process.js:3:9)'
  const entries = [{ timeUs: 1n, level: LogLevel.ERROR, message }]
  runner.send(executionId, { case: 'logs', value: { executionId, fence, chunk: { first: 0, entries } } })
  return broken
}

/** The runs of error handlers of a team, by the run that had failed. */
export async function handled(system: System, team: string): Promise<Map<string, string[]>> {
  const rows = await system.rows<{ id: string; parameters: string }>(
    "SELECT id, parameters FROM executions WHERE team = $1 AND created_by = 'system' ORDER BY id",
    [team],
  )
  const failedOf = (text: string) => (JSON.parse(text) as { execution?: { id: string } }).execution?.id ?? 'none'
  const byFailed = Map.groupBy(rows, ({ parameters }) => failedOf(parameters))
  return new Map([...byFailed].map(([failed, runs]) => [failed, runs.map(({ id }) => id)]))
}

/** The one run of the error handler for this run, ended. */
export async function handlerRun(system: System, failed: string, team = 'demo') {
  const [id] = await until(async () => (await handled(system, team)).get(failed), { timeoutMs: 30_000 })
  return system.ended(id!, team)
}

/** Lets the events that are there come to the consumer: those of a run that failed after them have come. */
export async function allHandled(system: System, team = 'demo'): Promise<void> {
  const { executionId } = await system.run(team, { identifier: 'fails' })
  await handlerRun(system, executionId, team)
}

export async function warnings(system: System, id: string, team = 'demo'): Promise<string[]> {
  const page = { page: 0, limit: 100 }
  const { entries } = await system.executions.listLogs({ executionId: id, page }, userContext(team))
  return entries.filter(({ level }) => level === LogLevel.WARNING).map(({ message }) => message)
}

/** Starts a run of a new schedule of the process `fails`. */
export async function fire(system: System, init: { comment?: string; settings?: { agentPool: string } }) {
  const firing = { scheduleId: v7(), nominalTimeMs: 1n, createdBy: 'somebody', ...init }
  const firings = system.replicas[0]!.network.client(FiringService)
  const context = serviceContext('scheduler', 'demo')
  const { executionId } = await firings.startFiring({ ...firing, processId: system.catalog.put('fails') }, context)
  return { executionId, scheduleId: firing.scheduleId }
}
