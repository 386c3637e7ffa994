import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { kill } from 'node:process'

/** In the environment of a command and of what it starts: its id, by which also those are found that left its tree. */
export const mark = 'SANDBOX_COMMAND'

interface Process {
  pid: number
  parent: number
  session: number
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
  for (const pid of startedBy(root, `${mark}=${id}\0`)) send(pid, number)
}

/** Ends a command and all that it started: halts all, so that nothing forks away meanwhile, then kills all. */
export function killAll(root: number, id: string): void {
  endAll(() => startedBy(root, `${mark}=${id}\0`))
}

const mostRounds = 100

function endAll(find: () => number[]): void {
  const halted = new Set<number>()
  for (let round = 0; round < mostRounds; round++) {
    const running = find().filter((pid) => !halted.has(pid))
    if (running.length === 0) break
    for (const pid of running) {
      send(pid, 'SIGSTOP')
      halted.add(pid)
    }
  }
  for (const pid of halted) send(pid, 'SIGKILL')
}

/** Ends whatever carries a mark that begins so: what commands have left running in the background, too. */
export function killMarked(beginning: string): void {
  endAll(() => startedBy(undefined, `${mark}=${beginning}`))
}

/**
 * Its descendants, its session, and whoever carries its mark: the orphans of a tree have another parent. In isolation
 * that shows no processes, its group.
 */
function startedBy(root: number | undefined, words: string): number[] {
  const all = processes()
  if (all.length === 0) return root === undefined ? [] : [-root]
  const found = new Set<number>()
  for (const { pid, session } of all) if (pid === root || session === root || isMarked(pid, words)) found.add(pid)
  for (let before = -1; before !== found.size;) {
    before = found.size
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid)
  }
  found.delete(process.pid)
  return [...found]
}

/** None where the isolation shows none. */
function processes(): Process[] {
  return namesIn('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? textOf(`/proc/${name}/stat`) : undefined
    if (stat === undefined) return []
    // The name in brackets may hold anything.
    const [state, parent, , session] = stat
      .toString('latin1')
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
    return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), session: Number(session) }]
  })
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
