import type { Lab } from '../lab.ts'
import { load } from '../load/run.ts'
import type { LoadResult, RequestSpec } from '../load/spec.ts'
import type { Parts } from '../sides/usage.ts'
import type { Sample } from '../statistics.ts'

/** The no-op gives back the number that it gets. */
const noop: Omit<RequestSpec, 'url'> = { body: '{"n":42}', expect: { status: 200, body: '{"n":42}' } }

interface Calls extends LoadResult {
  /** CPU a call in ms, by part of the system; empty where nobody knows. */
  cpuMs: Map<string, number>
}

/** Calls of a no-op by so many callers, after a warm-up; every answer is compared. */
export async function callsBy(
  connections: number,
  { effort }: Lab,
  url: string,
  usage: () => Promise<Parts> = () => Promise.resolve(new Map()),
): Promise<Calls> {
  const some = (seconds: number) => load({ url, ...noop }, { kind: 'closed', connections, warmUpS: 0, seconds })
  await some(effort.warmUpS)
  const before = await usage()
  const calls = await some(effort.seconds)
  const after = await usage()
  const used = (part: string) => (after.get(part)!.cpuMs - (before.get(part)?.cpuMs ?? 0)) / calls.count
  return { ...calls, cpuMs: new Map([...after.keys()].map((part) => [part, used(part)])) }
}

/** Latency of a no-op with one caller, throughput with 32; where usage is known the CPU, of 32 by part of the system. */
export async function measureCalls(lab: Lab, url: string, usage?: () => Promise<Parts>): Promise<Sample> {
  const one = await callsBy(1, lab, url, usage)
  const many = await callsBy(32, lab, url, usage)
  return {
    p50Ms: one.p50Ms,
    p99Ms: one.p99Ms,
    perSecond: many.perSecond,
    perSecondAlone: one.perSecond,
    p50MsOf32: many.p50Ms,
    p99MsOf32: many.p99Ms,
    ...(usage && { cpuMs: cpuMsOf(many), cpuMsAlone: cpuMsOf(one) }),
    ...Object.fromEntries([...many.cpuMs].map(([part, ms]) => [`cpuMs of ${part}`, ms])),
  }
}

/** The CPU of a call in all parts. */
export function cpuMsOf({ cpuMs }: Calls): number {
  return [...cpuMs.values()].reduce((total, ms) => total + ms, 0)
}

/** So many calls of a no-op with 32 callers, and no more; gives their number. */
export async function burst({ effort: { smoke } }: Lab, url: string): Promise<number> {
  const count = smoke ? 200 : 3000
  await load({ url, ...noop }, { kind: 'burst', connections: 32, count })
  return count
}
