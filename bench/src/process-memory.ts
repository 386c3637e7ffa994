import { readdir, readFile } from 'node:fs/promises'

/**
 * Summed PSS in MB of a process, its descendants, and everything else whose command line names the folder (a database
 * that has left the tree). Linux only.
 */
export async function treePssMb(pid: number, folder: string): Promise<number> {
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
