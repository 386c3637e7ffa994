import { readdir, readFile } from 'node:fs/promises'

/** What a part of a system has used since it began, and holds now. */
export interface Usage {
  /** With its processes that have ended. */
  cpuMs: number
  /** Summed PSS. */
  memoryMb: number
  processes: number
}

/** By part: `postgres`, `children` (launchers and the code they run), and each service by its name. */
export type Parts = Map<string, Usage>

/**
 * What a process, its descendants, and everything else whose command line names the folder (a database that has left the
 * tree) use. Linux only.
 */
export async function usageOf(pid: number, folder: string): Promise<Parts> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const processes = (await Promise.all(names.map(stateOf))).flat()
  const members = new Set([pid, ...processes.filter(({ command }) => command.includes(folder)).map(({ id }) => id)])
  for (let before = 0; before !== members.size;) {
    before = members.size
    for (const { id, parent } of processes) if (members.has(parent)) members.add(id)
  }
  const parts: Parts = new Map()
  for (const { id, command, cpuMs } of processes.filter(({ id }) => members.has(id))) {
    const part = partOf(command)
    const sum = parts.get(part) ?? { cpuMs: 0, memoryMb: 0, processes: 0 }
    const memoryMb = sum.memoryMb + (await pssKb(id)) / 1024
    parts.set(part, { cpuMs: sum.cpuMs + cpuMs, memoryMb, processes: sum.processes + 1 })
  }
  return parts
}

/** What several systems use together. */
export function summed(all: Parts[]): Parts {
  const sums: Parts = new Map()
  for (const [part, { cpuMs, memoryMb, processes }] of all.flatMap((parts) => [...parts])) {
    const sum = sums.get(part) ?? { cpuMs: 0, memoryMb: 0, processes: 0 }
    sums.set(part, {
      cpuMs: sum.cpuMs + cpuMs,
      memoryMb: sum.memoryMb + memoryMb,
      processes: sum.processes + processes,
    })
  }
  return sums
}

/** The sum of a figure over all parts. */
export function total(parts: Parts, figure: keyof Usage): number {
  return [...parts.values()].reduce((sum, usage) => sum + usage[figure], 0)
}

function partOf(command: string): string {
  if (command.includes('postgres')) return 'postgres'
  return /apps\/([a-z-]+)\/src\/main\.ts/.exec(command)?.[1] ?? (command.includes('services') ? 'services' : 'children')
}

interface State {
  id: number
  parent: number
  command: string
  cpuMs: number
}

/** The kernel counts in hundredths of a second. */
const tickMs = 10

async function stateOf(name: string): Promise<State[]> {
  try {
    const [stat, command] = await Promise.all([
      readFile(`/proc/${name}/stat`, 'utf8'),
      readFile(`/proc/${name}/cmdline`, 'utf8'),
    ])
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const cpuMs = fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) * tickMs
    return [{ id: Number(name), parent: fields[1] ?? 0, command: command.replaceAll('\0', ' '), cpuMs }]
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
