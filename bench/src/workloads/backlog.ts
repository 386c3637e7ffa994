import { load } from '../load/run.ts'
import type { LoadResult } from '../load/spec.ts'
import type { Process, Team } from '../sides/ours.ts'
import { untilTrue } from '../sides/program.ts'
import { total } from './start-latency.ts'

/** A process whose runs never end. */
export function holder(team: Team): Promise<Process> {
  return team.process('hold', 'await new Promise(() => setInterval(() => undefined, 1000))')
}

/** Its runs fill a team's slots, so that all that it starts after them queues until they are killed. */
export async function holdSlots(team: Team, { id }: Process, slots: number): Promise<{ release(): Promise<void> }> {
  await Promise.all(Array.from({ length: slots }, () => team.call('POST', '/processes/hold/execute', {})))
  await untilTrue(
    async () => (await total(team, id, 'RUNNING')) === slots,
    () => new Error('the runs that hold the slots do not start'),
  )
  const path = `/executions?processId=${id}&limit=${slots}`
  const { data } = await team.call<{ data: { id: string }[] }>('GET', path)
  return {
    release: async () => {
      await Promise.all(data.map((run) => team.call('PUT', `/executions/${run.id}/kill`)))
    },
  }
}

/** Starts as many runs over 64 connections; each is acknowledged. */
export function enqueue(team: Team, process: Process, count: number): Promise<LoadResult> {
  const body = '{"parameters":{"n":42}}'
  const request = { url: process.execute, headers: team.headers, body, expect: { status: 202 } }
  return load(request, { kind: 'burst', connections: 64, count })
}
