import { readdir, readFile } from 'node:fs/promises'
import type { Lab } from '../lab.ts'
import { openOurs, oursAbout } from '../sides/ours.ts'
import { goal, type Workload } from '../sides/side.ts'
import type { Sample } from '../statistics.ts'

const settleMs = 5000

/** From spawn to `/readyz`: on an empty folder, then again on the same; the memory of the whole tree when idle. */
async function measureOurs(lab: Lab): Promise<Sample> {
  const fresh = await timed(() => openOurs(lab))
  await fresh.opened.close()
  const warm = await timed(() => openOurs(lab, {}, fresh.opened.dataDir))
  try {
    if (!lab.effort.smoke) await new Promise((resolve) => setTimeout(resolve, settleMs))
    const idleMb = await treePssMb(warm.opened.pid, warm.opened.dataDir)
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

/**
 * Summed PSS in MB of a process, its descendants, and everything else whose command line names the folder (a database
 * that has left the tree). Linux only.
 */
async function treePssMb(pid: number, folder: string): Promise<number> {
  const processes = (
    await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(stateOf))
  ).flat()
  const members = new Set([pid, ...processes.filter(({ command }) => command.includes(folder)).map(({ id }) => id)])
  for (let before = 0; before !== members.size;) {
    before = members.size
    for (const { id, parent } of processes) if (members.has(parent)) members.add(id)
  }
  const sizes = await Promise.all([...members].map(pssKb))
  return sizes.reduce((sum, size) => sum + size, 0) / 1024
}

async function stateOf(name: string): Promise<{ id: number; parent: number; command: string }[]> {
  try {
    const [stat, command] = await Promise.all([
      readFile(`/proc/${name}/stat`, 'utf8'),
      readFile(`/proc/${name}/cmdline`, 'utf8'),
    ])
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    return [{ id: Number(name), parent, command }]
  } catch {
    return [] // it ended meanwhile
  }
}

async function pssKb(pid: number): Promise<number> {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0 // it ended meanwhile
  }
}
