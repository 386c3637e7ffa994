import { load } from '../load/run.ts'
import type { RequestSpec } from '../load/spec.ts'
import type { Lab } from '../lab.ts'
import { openRestate, restateAbout } from '../peers/restate.ts'
import { floorAbout, openFloor } from '../sides/floor.ts'
import { openOurs, oursAbout } from '../sides/ours.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import type { Sample } from '../statistics.ts'

const body = '{"n":42}'
const expect = { status: 200, body }

/** Latency with one caller, throughput with 32; every answer is compared. */
async function measureCalls(lab: Lab, request: RequestSpec): Promise<Sample> {
  const { warmUpS, seconds } = lab.effort
  const one = await load(request, { kind: 'closed', connections: 1, warmUpS, seconds })
  const many = await load(request, { kind: 'closed', connections: 32, warmUpS, seconds })
  return {
    p50Ms: one.p50Ms,
    p99Ms: one.p99Ms,
    perSecond: many.perSecond,
    perSecondAlone: one.perSecond,
    p50MsOf32: many.p50Ms,
    p99MsOf32: many.p99Ms,
  }
}

async function measureOurs(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab)
  try {
    const { webhook } = await ours.process('noop', 'return { n: svc.context.parameters.n }')
    return await measureCalls(lab, { url: webhook, body, expect })
  } finally {
    await ours.close()
  }
}

async function measureFloor(lab: Lab): Promise<Sample> {
  const floor = await openFloor(lab)
  try {
    return await measureCalls(lab, { url: `${floor.url}/run`, body, expect })
  } finally {
    await floor.close()
  }
}

async function measureRestate(lab: Lab): Promise<Sample> {
  const restate = await openRestate(lab)
  try {
    return await measureCalls(lab, { url: restate.noop, body, expect })
  } finally {
    await restate.close()
  }
}

export const w1: Workload = {
  id: 'W1',
  title: 'Synchronous webhook, JavaScript no-op, warm: latency alone (c=1), throughput at c=32',
  shown: { metric: 'perSecond', unit: 'calls/s at c=32', moreIsBetter: true },
  sides: [
    {
      name: 'floor',
      kind: 'floor',
      about: { ...floorAbout, software: 'Hono + two PostgreSQL writes + warm child' },
      measure: measureFloor,
    },
    { name: 'ours', kind: 'ours', about: oursAbout, measure: measureOurs },
    { name: 'restate', kind: 'peer', about: restateAbout, measure: measureRestate },
  ],
  goals: (median) => [
    goal('p50 at c=1 at most 0.7 of Restate', median('ours', 'p50Ms'), '<=', times(0.7, median('restate', 'p50Ms'))),
    goal(
      'calls/s at c=32 at least those of Restate',
      median('ours', 'perSecond'),
      '>=',
      median('restate', 'perSecond'),
    ),
    goal(
      'calls/s at c=32 at least half of the floor',
      median('ours', 'perSecond'),
      '>=',
      times(0.5, median('floor', 'perSecond')),
    ),
  ],
}
