import type { Lab } from '../lab.ts'
import { dbosAbout, openDbos } from '../peers/dbos.ts'
import { n8nAbout, openN8n } from '../peers/n8n.ts'
import { openRestate, restateAbout } from '../peers/restate.ts'
import { floorAbout, openFloor } from '../sides/floor.ts'
import { openOurs, oursAbout } from '../sides/ours.ts'
import { goal, times, type Medians, type Workload } from '../sides/side.ts'
import { writtenBy } from '../sides/written.ts'
import type { Sample } from '../statistics.ts'
import { burst, measureCalls } from './calls.ts'

async function measureOurs(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab)
  try {
    const { webhook } = await ours.process('noop', 'return { n: svc.context.parameters.n }')
    const calls = await measureCalls(lab, webhook, ours.usage)
    return { ...calls, ...(await writtenBy(ours.dataDir, () => burst(lab, webhook))) }
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

/** Of the peers that were measured, the best; undefined where none was. */
function best(median: Medians, metric: string, choose: (...all: number[]) => number): number | undefined {
  const all = ['restate', 'dbos', 'n8n'].flatMap((peer) => median(peer, metric) ?? [])
  return all.length === 0 ? undefined : choose(...all)
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
    goal(
      'p50 at c=1 at most 0.8 of the best peer',
      median('ours', 'p50Ms'),
      '<=',
      times(0.8, best(median, 'p50Ms', Math.min)),
    ),
    goal('p99 at c=1 at most that of the best peer', median('ours', 'p99Ms'), '<=', best(median, 'p99Ms', Math.min)),
    goal(
      'calls/s at c=32 at least twice those of the best peer',
      median('ours', 'perSecond'),
      '>=',
      times(2, best(median, 'perSecond', Math.max)),
    ),
    goal(
      'calls/s at c=32 at least 0.6 of the floor',
      median('ours', 'perSecond'),
      '>=',
      times(0.6, median('floor', 'perSecond')),
    ),
    goal('CPU a call at c=32 at most 0.75 ms', median('ours', 'cpuMs'), '<=', 0.75),
    goal('CPU a call at c=1 at most 1.8 ms', median('ours', 'cpuMsAlone'), '<=', 1.8),
    goal('WAL a run at most 2,500 bytes, page images apart', median('ours', 'walBytesPerRun'), '<=', 2500),
    goal('at least 95 of 100 ends are HOT', median('ours', 'hotPercent'), '>=', 95),
  ],
}
