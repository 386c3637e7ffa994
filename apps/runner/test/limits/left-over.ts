import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Process {
  pid: number
  parent: number
  exitSignal: number
  command: string
}

const pythonChild = 'children/python/main.py'
/** SIGCHLD of forks, SIGUSR1 of templates. */
const forkSignals = new Set([17, 10])

/**
 * Processes below this one that belong to no child which waits for its next run: beside launchers, and the helpers of
 * their networks, there are only children, and of a Python child one fork and one template. That is forked apart: what a
 * run leaves to the child ends with another signal.
 */
export function leftOverProcesses(mark: string): string[] {
  const all = processes()
  const own = new Map([...below(process.pid, all)].map((each) => [each.pid, each]))
  const isLauncher = (pid: number) => own.get(pid)?.command.includes('/launcher.py') === true
  const forked = new Set<string>()
  const left = [...own.values()].filter(({ pid, parent, exitSignal, command }) => {
    if (isLauncher(pid) || /pasta|slirp4netns/.test(command) || !isOfRunner(parent, own)) return false
    if (isLauncher(parent)) return !/children\/(javascript\/(main|start)\.js|python\/main\.py)/.test(command)
    const isFork = command.includes(pythonChild) && own.get(parent)!.command.includes(pythonChild)
    const place = `${parent} ${exitSignal}`
    if (!isFork || !isLauncher(own.get(parent)!.parent) || forked.has(place) || !forkSignals.has(exitSignal))
      return true
    forked.add(place)
    return false
  })
  const marked = all.filter(({ command }) => command.includes(mark))
  return [...new Set([...left, ...marked])].map(({ pid, command }) => `${pid} ${command.replaceAll('\0', ' ')}`)
}

/** Whether a launcher is above it. */
function isOfRunner(pid: number, own: Map<number, Process>): boolean {
  const each = own.get(pid)
  return each !== undefined && (each.command.includes('/launcher.py') || isOfRunner(each.parent, own))
}

/** Files below a directory, but for the private directories of children and forks themselves. */
export function leftOverFiles(root: string, depth = 0): string[] {
  return namesIn(root).flatMap((name) => {
    const path = join(root, name)
    const isDirectory = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    if (depth === 0 && name === 'socket') return []
    if (depth < 2 && isDirectory && /^(\d+|run)$/.test(name)) return leftOverFiles(path, depth + 1)
    return [path]
  })
}

/** None of a directory that has just gone. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function processes(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return [
        {
          pid: Number(name),
          parent: Number(fields[1]),
          exitSignal: Number(fields[35]),
          command: readFileSync(`/proc/${name}/cmdline`, 'latin1'),
        },
      ]
    } catch {
      // It has just gone.
      return []
    }
  })
}

function* below(pid: number, all: Process[]): Generator<Process> {
  for (const each of all) {
    if (each.parent !== pid) continue
    yield each
    yield* below(each.pid, all)
  }
}
