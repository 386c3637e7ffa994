import type { Lab } from '../lab.ts'
import { floorAbout, openFloor } from '../sides/floor.ts'
import { openOurs, oursAbout } from '../sides/ours.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import type { Sample } from '../statistics.ts'
import { callsBy, measureCalls } from './calls.ts'

/** Python, and W1 on the same system, so that both see the same machine. */
async function measureOurs(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab)
  try {
    const [python, javascript] = await Promise.all([
      ours.process('noop-python', 'return {"n": svc.context.parameters["n"]}', 'PYTHON'),
      ours.process('noop', 'return { n: svc.context.parameters.n }'),
    ])
    const { p50Ms } = await callsBy(1, lab, javascript.webhook)
    const { perSecond } = await callsBy(32, lab, javascript.webhook)
    const calls = await measureCalls(lab, python.webhook, ours.usage)
    return { ...calls, p50MsOfW1: p50Ms, perSecondOfW1: perSecond }
  } finally {
    await ours.close()
  }
}

async function measureFloor(lab: Lab): Promise<Sample> {
  const floor = await openFloor(lab, 'PYTHON')
  try {
    return await measureCalls(lab, `${floor.url}/run`)
  } finally {
    await floor.close()
  }
}

export const w2: Workload = {
  id: 'W2',
  title: 'Synchronous webhook, Python no-op, warm: latency alone (c=1), throughput at c=32',
  shown: { metric: 'perSecond', unit: 'calls/s at c=32', moreIsBetter: true },
  sides: [
    {
      name: 'floor',
      kind: 'floor',
      about: {
        ...floorAbout,
        software: 'Hono + two PostgreSQL writes + a fork of a warm Python for each call (two parents)',
        isolation: 'none: a fresh fork without a jail',
      },
      measure: measureFloor,
    },
    { name: 'ours', kind: 'ours', about: oursAbout, measure: measureOurs },
  ],
  goals: (median) => [
    goal(
      'p50 at c=1 at most 1.5 of W1 on the same system',
      median('ours', 'p50Ms'),
      '<=',
      times(1.5, median('ours', 'p50MsOfW1')),
    ),
    goal(
      'calls/s at c=32 at least 0.6 of W1 on the same system',
      median('ours', 'perSecond'),
      '>=',
      times(0.6, median('ours', 'perSecondOfW1')),
    ),
    goal('CPU a call at c=32 at most 2.5 ms', median('ours', 'cpuMs'), '<=', 2.5),
  ],
}
