import type { Lab } from '../lab.ts'
import { openOurs, openServices, oursAbout, type Ours } from '../sides/ours.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import type { Sample } from '../statistics.ts'
import { measureCalls } from './calls.ts'

async function measure(lab: Lab, open: (lab: Lab) => Promise<Ours>): Promise<Sample> {
  const ours = await open(lab)
  try {
    const { webhook } = await ours.process('noop', 'return { n: svc.context.parameters.n }')
    return await measureCalls(lab, webhook, ours.usage)
  } finally {
    await ours.close()
  }
}

export const w15: Workload = {
  id: 'W15',
  title: 'W1 with each service as a process of its own, beside all in one process',
  shown: { metric: 'cpuMs', unit: 'ms of CPU a call at c=32', moreIsBetter: false },
  isLong: true,
  sides: [
    { name: 'embedded', kind: 'floor', about: oursAbout, measure: (lab) => measure(lab, openOurs) },
    {
      name: 'services',
      kind: 'ours',
      about: {
        software: 'this repository, each service a process, gRPC between them',
        get isolation() {
          return oursAbout.isolation
        },
        durability: oursAbout.durability,
      },
      measure: (lab) => measure(lab, openServices),
    },
  ],
  goals: (median) => {
    const beside = (text: string, metric: string, relation: '<=' | '>=', factor: number) =>
      goal(text, median('services', metric), relation, times(factor, median('embedded', metric)))
    return [
      beside('p50 at c=1 at most 1.5 × embedded', 'p50Ms', '<=', 1.5),
      beside('calls/s at c=32 at least 0.7 × embedded', 'perSecond', '>=', 0.7),
      beside('CPU a call at c=32 at most 1.5 × embedded', 'cpuMs', '<=', 1.5),
    ]
  },
}
