import type { Lab } from '../lab.ts'
import { load } from '../load/run.ts'
import type { RequestSpec } from '../load/spec.ts'
import type { Team } from '../sides/ours.ts'
import { untilTrue } from '../sides/program.ts'
import { percentile, type Sample } from '../statistics.ts'

/** A process whose first line reads the machine's monotonic clock, which the load generator reads too. */
export interface Clock {
  team: Team
  id: string
  request: RequestSpec
}

export interface Start {
  sentAtNs: bigint
  /** From sending the call to the first line of user code. */
  tookMs: number
}

/** Makes the process in a team. */
export async function clockOf(team: Team): Promise<Clock> {
  const { id, execute } = await team.process('clock', 'return String(process.hrtime.bigint())')
  const request = {
    url: execute,
    headers: team.headers,
    body: '{}',
    expect: { status: 202 },
    idHeader: 'Svc-Execution-ID',
  }
  return { team, id, request }
}

export async function warmUp(lab: Lab, { request }: Clock): Promise<void> {
  const gapMs = 10
  await load(request, { kind: 'paced', count: Math.ceil((lab.effort.warmUpS * 1000) / (gapMs + 2)), gapMs })
}

/** Starts runs one after the other, with a pause after each acknowledgement; all of them must end well. */
export async function startLatencies({ team, id, request }: Clock, count: number, gapMs: number): Promise<Start[]> {
  const { ids, sentAtNs } = await load(request, { kind: 'paced', count, gapMs })
  await untilTrue(
    async () => (await active(team, id)) === 0,
    () => new Error('runs do not end'),
  )
  const startedAtNs = await Promise.all(ids.map((execution) => startOf(team, execution)))
  return startedAtNs.map((at, index) => {
    const sent = BigInt(sentAtNs[index] ?? 0)
    return { sentAtNs: sent, tookMs: Number(at - sent) / 1e6 }
  })
}

export function summary(latenciesMs: readonly number[]): Sample {
  const sorted = latenciesMs.toSorted((a, b) => a - b)
  return { p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) }
}

/** How many runs of a process there are, of a status or of all. */
export async function total(team: Team, processId: string, status?: string): Promise<number> {
  const filter = status === undefined ? '' : `&status=${status}`
  return (await team.call<{ total: number }>('GET', `/executions?processId=${processId}${filter}&limit=1`)).total
}

/** How many runs of a process have not ended. */
export async function active(team: Team, processId: string): Promise<number> {
  const statuses = ['CREATED', 'QUEUED', 'DEQUEUED', 'RUNNING']
  const counts = await Promise.all(statuses.map((status) => total(team, processId, status)))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function startOf(team: Team, id: string): Promise<bigint> {
  const { status, returnValue } = await team.call<{ status: string; returnValue?: string }>('GET', `/executions/${id}`)
  if (status !== 'FINISHED' || returnValue === undefined) throw new Error(`execution ${id} is ${status}`)
  return BigInt(JSON.parse(returnValue) as string)
}
