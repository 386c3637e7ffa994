import type { Lab } from '../lab.ts'
import { openOurs, oursAbout } from '../sides/ours.ts'
import { goal, type Workload } from '../sides/side.ts'
import { total } from '../sides/usage.ts'
import type { Sample } from '../statistics.ts'

const settleMs = 5000

/** From spawn to `/readyz`: on an empty folder, then again on the same; the memory of the whole tree when idle. */
async function measureOurs(lab: Lab): Promise<Sample> {
  const fresh = await timed(() => openOurs(lab))
  await fresh.opened.close()
  const warm = await timed(() => openOurs(lab, {}, fresh.opened.dataDir))
  try {
    if (!lab.effort.smoke) await new Promise((resolve) => setTimeout(resolve, settleMs))
    const idleMb = total(await warm.opened.usage(), 'memoryMb')
    return { freshMs: fresh.tookMs, warmMs: warm.tookMs, idleMb }
  } finally {
    await warm.opened.close()
  }
}

async function timed<T>(open: () => Promise<T>): Promise<{ opened: T; tookMs: number }> {
  const startedAt = performance.now()
  const opened = await open()
  return { opened, tookMs: performance.now() - startedAt }
}

export const start: Workload = {
  id: 'start',
  title: 'Embedded: from start to ready, and the memory of the idle process tree (summed PSS)',
  shown: { metric: 'warmMs', unit: 'ms to ready', moreIsBetter: false },
  sides: [{ name: 'ours', kind: 'ours', about: oursAbout, measure: measureOurs }],
  goals: (median) => [
    goal('ready in at most 3 s on its own data', median('ours', 'warmMs'), '<=', 3000),
    goal('idle in at most 350 MB', median('ours', 'idleMb'), '<=', 350),
  ],
}
