import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/** Seconds to sleep that no other process of this machine has in its command line. */
export function sleepMark(): string {
  return `7${Math.floor(Math.random() * 1000)}.${randomInt(1e9, 1e10)}`
}

/** Processes of this machine whose command line has this text. */
export function processesWith(text: string): string[] {
  return pids().filter((pid) => ofProcess(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1')).includes(text))
}

/** Processes that this one, or one below it, has started. */
export function processesBelow(pid: number): string[] {
  const parents = new Map(pids().map((each) => [each, parentOf(each)]))
  const isBelow = (each: string): boolean => {
    const parent = parents.get(each)
    return parent === String(pid) || (parent !== undefined && isBelow(parent))
  }
  return [...parents.keys()].filter(isBelow)
}

/** Those of these that have not ended. */
export function stillRunning(some: string[]): string[] {
  return some.filter((pid) => !['', 'Z'].includes(statOf(pid)[0] ?? ''))
}

function parentOf(pid: string): string | undefined {
  return statOf(pid)[1]
}

/** From its state on. */
function statOf(pid: string): string[] {
  const stat = ofProcess(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function pids(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
}

/** Nothing, for a process that has just gone. */
function ofProcess(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
