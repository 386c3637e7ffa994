import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** How much of the processors: an idle group gets what nobody else wants, and whoever else wakes takes its place at once. */
export type CpuWeight = 'usual' | 'little' | 'idle'

// As the first and the second kind of groups say it; a little is a quarter.
const weights = {
  usual: { 'cpu.shares': '1024', 'cpu.weight': '100' },
  little: { 'cpu.shares': '256', 'cpu.weight': '25' },
}

/**
 * Groups of processes (cgroups) that the kernel shares processors among: one for each child, named by its launcher. They
 * lie beside the service in the tree, so that its weight is compared with each of theirs.
 */
export class CpuGroups {
  /** A group's path is this and the number of its launcher. */
  readonly prefix: string

  private constructor(prefix: string) {
    this.prefix = prefix
  }

  /** Found by trying; undefined where this process may make none, or the kernel knows no idle ones. */
  static find(name: string): CpuGroups | undefined {
    for (const place of places()) {
      const groups = new CpuGroups(join(place, `automation-${name}-${process.pid}-`))
      const trial = `${groups.prefix}0`
      try {
        mkdirSync(trial)
        const serves = existsSync(`${trial}/cpu.idle`) && groups.weigh(0, 'idle')
        rmdirSync(trial)
        if (!serves) continue
        groups.#removeLeftOvers(place, name)
        return groups
      } catch {
        // Nothing is to be made here.
      }
    }
    return undefined
  }

  /** False where the group has gone, or is not there yet. */
  weigh(launcher: number, weight: CpuWeight): boolean {
    const path = `${this.prefix}${launcher}`
    if (weight === 'idle') return write(`${path}/cpu.idle`, '1')
    if (!write(`${path}/cpu.idle`, '0')) return false
    return Object.entries(weights[weight]).some(([file, value]) => write(`${path}/${file}`, value))
  }

  /** The numbers of all processes in it. */
  members(launcher: number): number[] {
    try {
      const lines = readFileSync(`${this.prefix}${launcher}/cgroup.procs`, 'latin1').split('\n')
      return lines.filter((line) => line !== '').map(Number)
    } catch {
      return []
    }
  }

  /** Removes those that launchers which were killed have left; they are empty by then. */
  close(): void {
    for (const path of groupsIn(dirname(this.prefix), basename(this.prefix))) remove(path)
  }

  #removeLeftOvers(place: string, name: string): void {
    for (const path of groupsIn(place, `automation-${name}-`)) {
      const pid = basename(path).slice(`automation-${name}-`.length).split('-')[0]!
      if (!existsSync(`/proc/${pid}`)) remove(path)
    }
  }
}

/** Directories of this process in the trees that may know processors. */
function places(): string[] {
  try {
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n').map(mountOf)
    const own = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n')
    return own.flatMap((line) => {
      const [, controllers = '', ...path] = line.split(':')
      const isFor = ({ type, options }: Mount) =>
        controllers === '' ? type === 'cgroup2' : type === 'cgroup' && options.includes('cpu')
      if (controllers !== '' && !controllers.split(',').includes('cpu')) return []
      return mounts.filter(isFor).flatMap(({ root, at }) => {
        const whole = path.join(':')
        return root === '/' ? [join(at, whole)] : whole.startsWith(root) ? [join(at, whole.slice(root.length))] : []
      })
    })
  } catch {
    return []
  }
}

interface Mount {
  root: string
  at: string
  type: string
  options: string[]
}

function mountOf(line: string): Mount {
  const [head = '', tail = ''] = line.split(' - ')
  const [, , , root = '', at = ''] = head.split(' ')
  const [type = '', , options = ''] = tail.split(' ')
  return { root, at, type, options: options.split(',') }
}

function groupsIn(place: string, prefix: string): string[] {
  return readdirSync(place)
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(place, name))
}

function remove(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // Its processes are still ending; who comes next removes it.
  }
}

function write(path: string, text: string): boolean {
  try {
    writeFileSync(path, text)
    return true
  } catch {
    return false
  }
}
