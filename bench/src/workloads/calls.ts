import type { Lab } from '../lab.ts'
import { load } from '../load/run.ts'
import type { LoadResult, RequestSpec } from '../load/spec.ts'
import type { Sample } from '../statistics.ts'

/** The no-op gives back the number that it gets. */
const noop: Omit<RequestSpec, 'url'> = { body: '{"n":42}', expect: { status: 200, body: '{"n":42}' } }

/** Calls of a no-op by one caller, after a warm-up; every answer is compared. */
export function oneCaller({ effort: { warmUpS, seconds } }: Lab, url: string): Promise<LoadResult> {
  return load({ url, ...noop }, { kind: 'closed', connections: 1, warmUpS, seconds })
}

/** Latency of a no-op with one caller, throughput with 32. */
export async function measureCalls(lab: Lab, url: string): Promise<Sample> {
  const { warmUpS, seconds } = lab.effort
  const one = await oneCaller(lab, url)
  const many = await load({ url, ...noop }, { kind: 'closed', connections: 32, warmUpS, seconds })
  return {
    p50Ms: one.p50Ms,
    p99Ms: one.p99Ms,
    perSecond: many.perSecond,
    perSecondAlone: one.perSecond,
    p50MsOf32: many.p50Ms,
    p99MsOf32: many.p99Ms,
  }
}
