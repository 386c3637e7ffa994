import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { kill } from 'node:process'

/** In the environment of a command and of what it starts: its id, by which also those are found that left its tree. */
export const mark = 'SANDBOX_COMMAND'

interface Process {
  pid: number
  parent: number
  group: number
  session: number
}

/** What a signal is sent to: the kernel signals a group with whoever is begun in it meanwhile. */
interface Started {
  /** Negative for a group alone. */
  pid: number
  group: number
}

/** When memory runs out, a command goes before the daemon does. */
export function beFirstOutOfMemory(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000')
  } catch {
    // It has ended, or the kernel does not let us: then only its choice of a victim is less sure.
  }
}

/** Sends a signal to a command and to all that it started. */
export function signalAll(root: number, id: string, number: number): void {
  // Who ends by it is its children's parent no longer.
  for (const { pid } of [...startedBy(root, `${mark}=${id}\0`)]) send(pid, number)
}

/** Ends a command and all that it started: halts all, so that nothing forks away meanwhile, then kills all. */
export function killAll(root: number, id: string): void {
  endAll(() => startedBy(root, `${mark}=${id}\0`))
}

const mostRounds = 100

function endAll(find: () => Iterable<Started>): void {
  const halted = new Set<number>()
  for (let round = 0; round < mostRounds; round++) {
    const before = halted.size
    for (const started of find()) {
      for (const pid of [-started.group, started.pid]) {
        if (halted.has(pid)) continue
        send(pid, 'SIGSTOP')
        halted.add(pid)
      }
    }
    if (halted.size === before) break
  }
  for (const pid of halted) send(pid, 'SIGKILL')
}

/** Ends whatever carries a mark that begins so: what commands have left running in the background, too. */
export function killMarked(beginning: string): void {
  endAll(() => startedBy(undefined, `${mark}=${beginning}`))
}

/**
 * Its descendants, its session, and whoever carries its mark: the orphans of a tree have another parent. Each is told as
 * soon as it is found, since one that begins another and ends is gone soon. In isolation that shows no processes, its group
 * alone.
 */
function* startedBy(root: number | undefined, words: string): Generator<Started> {
  const all: Process[] = []
  const found = new Set<number>()
  const own = statOf('self')
  const told = ({ pid, group, session }: Process): Started => {
    found.add(pid)
    // Before it has become a command its group is the daemon's.
    return { pid, group: session === own?.session || group <= 1 ? pid : group }
  }
  for (const name of namesIn('/proc')) {
    const process = /^\d+$/.test(name) ? statOf(name) : undefined
    if (process === undefined || process.pid === own?.pid) continue
    all.push(process)
    const { pid, session } = process
    if (pid === root || session === root || isMarked(pid, words)) yield told(process)
  }
  if (all.length === 0 && root !== undefined) yield { pid: -root, group: root }
  for (let before = -1; before !== found.size;) {
    before = found.size
    for (const process of all) if (!found.has(process.pid) && found.has(process.parent)) yield told(process)
  }
}

/** Undefined for one that is over. */
function statOf(name: string): Process | undefined {
  const stat = textOf(`/proc/${name}/stat`)?.toString('latin1')
  if (stat === undefined) return undefined
  // The name in brackets may hold anything.
  const [state, ...numbers] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [parent = 0, group = 0, session = 0] = numbers.map(Number)
  return state === 'Z' ? undefined : { pid: Number.parseInt(stat), parent, group, session }
}

function isMarked(pid: number, words: string): boolean {
  return textOf(`/proc/${pid}/environ`)?.includes(words) ?? false
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function textOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    // It has just gone, or is another's.
    return undefined
  }
}

function send(pid: number, signal: NodeJS.Signals | number): void {
  try {
    kill(pid, signal)
  } catch {
    // It has just gone.
  }
}
