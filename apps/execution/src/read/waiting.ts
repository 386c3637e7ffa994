import { isUuid } from '@automation/contract/forms'
import type { WaitingSchema } from '@automation/contract/execution/v1/execution'
import { notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { TeamSuspension } from '@automation/service'
import type { Nesting } from '../dispatch/nesting.ts'
import type { RunnerCapacity } from '../dispatch/runner-capacity.ts'
import type { Connections } from '../store/connections.ts'
import type { RunLimits } from '../run-limits.ts'
import { readWaitingRun, type WaitingRow } from '../store/waiting-runs.ts'
import type { AgentPools } from './agent-pools.ts'

/** What keeps a run from its slot, and what to do about it. */
interface Obstacle {
  code: 'team_limit' | 'no_runner' | 'no_free_slot' | 'behind_older' | 'packages' | 'paused'
  reason: string
  remedy: string
  inUse?: number
  allowed?: number
}

interface WaitingRunsContext {
  reads: Connections
  limits: RunLimits
  nesting: Nesting
  capacity: RunnerCapacity
  agentPools: AgentPools
}

/** Tells of runs that wait, what for. */
export class WaitingRuns {
  readonly #context: WaitingRunsContext

  constructor(context: WaitingRunsContext) {
    this.#context = context
  }

  /** Takes the same few statements whatever waits. Failure: execution_not_found. */
  async look(team: string, id: string): Promise<MessageInitShape<typeof WaitingSchema>> {
    const key = id.toLowerCase()
    const row = isUuid(key) ? await readWaitingRun(this.#context.reads.forTeam(team), team, key) : undefined
    if (row === undefined) throw notFound('execution')
    if (!row.waits) return { waiting: false }
    const since = timestampFromDate(row.since)
    const obstacle = await this.#obstacle(team, row)
    return { waiting: true, since, ...obstacle, position: row.held ? undefined : row.ahead + 1 }
  }

  async #obstacle(team: string, row: WaitingRow): Promise<Obstacle> {
    const { limits, nesting, capacity, agentPools } = this.#context
    const { pool, language, ahead } = row
    if (row.held) return heldBack(row)
    const suspension = limits.suspensionOf(team)
    if (suspension !== undefined) return paused(suspension)
    const why = capacity.whyNone(pool, team, language)
    if (why !== undefined) return { code: 'no_runner', reason: capitalised(why), remedy: remedies.runner }
    const inUse = row.running + row.wanted
    const allowed = limits.running(team)
    if (inUse >= allowed) return atLimit(row, allowed)
    if (!limits.beginsOnlyOfRuns(team) && row.depth < nesting.leastDepth(team))
      return { ...callersWait, inUse, allowed }
    const slots = (await agentPools.list(team)).find(({ slug }) => slug === pool)
    const used = slots && { inUse: slots.slots - slots.freeSlots, allowed: slots.slots }
    if (ahead > 0) {
      const reason = `${ahead < 1000 ? ahead : 'More than 1,000'} older runs of the team wait in the pool ${pool}`
      return { code: 'behind_older', reason, remedy: remedies.older, ...used }
    }
    return { code: 'no_free_slot', reason: `No slot is free in the pool ${pool}`, remedy: remedies.slot, ...used }
  }
}

const remedies = {
  packages:
    'Wait for the end of the installation; where it fails, the run ends as ERROR with the reason. GET /dependencies/{language} tells how it stands with packages of the team, not with those that are the process’s own',
  paused: 'Ask the operator to resume the team; the run begins then',
  limit: 'Wait until runs of the team end, kill some, or have the operator raise the limit',
  runner: 'Name another pool in settings.agentPoolSlug, or have the operator start a runner for this one',
  older: 'Wait until the older runs have begun, or kill some of them',
  slot: 'Wait until runs in the pool end, name another pool in settings.agentPoolSlug, or have the operator add runners',
}

const callersWait = {
  code: 'team_limit',
  reason: 'Many runs of the team wait in svc.processes.runSync; the runs that they wait for begin first',
  remedy: 'Wait until those runs end, or kill some of them',
} as const

function heldBack({ explanation }: WaitingRow): Obstacle {
  const reason = explanation ?? 'Waits for packages that are being installed'
  return { code: 'packages', reason, remedy: remedies.packages }
}

function paused({ reason }: TeamSuspension): Obstacle {
  const why = reason === '' ? '' : `: ${reason}`
  return { code: 'paused', reason: `The operator has suspended the team${why}`, remedy: remedies.paused }
}

function atLimit({ running, wanted, parentHolds }: WaitingRow, allowed: number): Obstacle {
  const inUse = running + wanted
  const goOn = wanted === 0 ? '' : `; ${wanted} of them have waited for runs of theirs and go on before new ones`
  const parent = parentHolds
    ? '. The run that has started this one holds a slot, which svc.processes.runSync gives back'
    : ''
  const reason = `The team runs ${inUse} at once, its limit${goOn}${parent}`
  return { code: 'team_limit', reason, remedy: remedies.limit, inUse, allowed }
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
