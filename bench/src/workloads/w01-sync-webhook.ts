import type { Lab } from '../lab.ts'
import { dbosAbout, openDbos } from '../peers/dbos.ts'
import { n8nAbout, openN8n } from '../peers/n8n.ts'
import { openRestate, restateAbout } from '../peers/restate.ts'
import { floorAbout, openFloor } from '../sides/floor.ts'
import { openOurs, oursAbout } from '../sides/ours.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import type { Sample } from '../statistics.ts'
import { measureCalls } from './calls.ts'

async function measureOurs(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab)
  try {
    const { webhook } = await ours.process('noop', 'return { n: svc.context.parameters.n }')
    return await measureCalls(lab, webhook)
  } finally {
    await ours.close()
  }
}

async function measureFloor(lab: Lab): Promise<Sample> {
  const floor = await openFloor(lab)
  try {
    return await measureCalls(lab, `${floor.url}/run`)
  } finally {
    await floor.close()
  }
}

/** Opens a peer that has the no-op at an address, measures it and closes it. */
async function measurePeer(
  lab: Lab,
  open: (lab: Lab) => Promise<{ noop: string; close(): Promise<void> }>,
): Promise<Sample> {
  const peer = await open(lab)
  try {
    return await measureCalls(lab, peer.noop)
  } finally {
    await peer.close()
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
    { name: 'restate', kind: 'peer', about: restateAbout, measure: (lab) => measurePeer(lab, openRestate) },
    { name: 'dbos', kind: 'peer', about: dbosAbout, measure: (lab) => measurePeer(lab, openDbos) },
    { name: 'n8n', kind: 'peer', about: n8nAbout, measure: (lab) => measurePeer(lab, openN8n) },
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
