import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { directoriesOf } from './cgroup-directories.ts'
import { leftOversIn, ownPrefix } from './left-overs.ts'
import { readOf } from './processes.ts'

/** How much of the processors: an idle group gets what nobody else wants, and whoever else wakes takes its place at once. */
export type CpuWeight = 'usual' | 'little' | 'idle'

// As the first and the second kind of groups say it; a little is a quarter.
const weights = {
  usual: { 'cpu.shares': '1024', 'cpu.weight': '100' },
  little: { 'cpu.shares': '256', 'cpu.weight': '25' },
}

// A fiftieth of one processor, in microseconds, as the first and the second kind of groups say it.
const held = { 'cpu.cfs_quota_us': '2000', 'cpu.max': '2000 100000' }
const free = { 'cpu.cfs_quota_us': '-1', 'cpu.max': 'max 100000' }

/**
 * Groups of processes (cgroups) that the kernel shares processors among: one for each child, named by its launcher. They
 * lie beside the service in the tree, so that its weight is compared with each of theirs.
 */
export class CpuGroups {
  /** A group's paths are these and the number of its launcher: the first has its weight, the last its time. */
  readonly prefixes: string[]
  /** Of the trees that tell times; known once one has. */
  #isFirstKind: boolean | undefined

  private constructor(prefixes: string[]) {
    this.prefixes = prefixes
  }

  /** Found by trying; undefined where this process may make none, or the kernel knows no idle ones. */
  static find(name: string): CpuGroups | undefined {
    // The first kind of groups may tell times in a tree of its own.
    for (const directory of directoriesOf('cpu'))
      for (const timesDirectory of [directory, ...directoriesOf('cpuacct')]) {
        const found = CpuGroups.#tried([...new Set([directory, timesDirectory])], name)
        if (found !== undefined) return found
      }
    return undefined
  }

  static #tried(directories: string[], name: string): CpuGroups | undefined {
    const groups = new CpuGroups(directories.map((directory) => join(directory, ownPrefix(name))))
    const trials = groups.prefixes.map((prefix) => `${prefix}0`)
    try {
      for (const each of trials) mkdirSync(each)
      const serves = existsSync(`${trials[0]!}/cpu.idle`) && groups.weigh(0, 'idle') && groups.usedMs(0) !== undefined
      if (!serves) return undefined
      for (const path of directories.flatMap((directory) => leftOversIn(directory, name))) remove(path)
      return groups
    } catch {
      // Nothing is to be made here.
      return undefined
    } finally {
      for (const each of trials) remove(each)
    }
  }

  /** False where the group has gone, or is not there yet. */
  weigh(launcher: number, weight: CpuWeight): boolean {
    const path = `${this.prefixes[0]!}${launcher}`
    if (weight === 'idle') return write(`${path}/cpu.idle`, '1')
    if (!write(`${path}/cpu.idle`, '0')) return false
    return writeEither(path, weights[weight])
  }

  /** Bounds the time of all its processes together to a fiftieth of a processor, or no more. False as above. */
  hold(launcher: number, isHeld: boolean): boolean {
    return writeEither(`${this.prefixes[0]!}${launcher}`, isHeld ? held : free)
  }

  /** The numbers of all processes in it, the youngest last where the kernel sorts them. */
  members(launcher: number): number[] {
    try {
      const lines = readFileSync(`${this.prefixes[0]!}${launcher}/cgroup.procs`, 'latin1').split('\n')
      return lines.filter((line) => line !== '').map(Number)
    } catch {
      return []
    }
  }

  /** Time on processors of all that are or were in it, in ms; undefined where the group has gone, or tells none. */
  usedMs(launcher: number): number | undefined {
    const path = `${this.prefixes.at(-1)!}${launcher}`
    // Looking for a file that is not there takes longer than reading one.
    const nanoseconds = this.#isFirstKind === false ? '' : readOf(`${path}/cpuacct.usage`)
    if (nanoseconds !== '') this.#isFirstKind = true
    if (this.#isFirstKind === true) return nanoseconds === '' ? undefined : Number(nanoseconds) / 1e6
    const [, microseconds] = /^usage_usec (\d+)/m.exec(readOf(`${path}/cpu.stat`)) ?? []
    if (microseconds === undefined) return undefined
    this.#isFirstKind = false
    return Number(microseconds) / 1e3
  }

  /** Removes those that launchers which were killed have left; they are empty by then. */
  close(): void {
    for (const prefix of this.prefixes) for (const path of groupsIn(dirname(prefix), basename(prefix))) remove(path)
  }
}

function groupsIn(directory: string, prefix: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(directory, name))
}

function remove(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // Its processes are still ending; who comes next removes it.
  }
}

/** To the file that the kind of groups has. */
function writeEither(path: string, files: Record<string, string>): boolean {
  return Object.entries(files).some(([file, text]) => write(`${path}/${file}`, text))
}

function write(path: string, text: string): boolean {
  try {
    writeFileSync(path, text)
    return true
  } catch {
    return false
  }
}
