import { readdirSync, readFileSync } from 'node:fs'
import type { Child } from './child.ts'

export interface MemoryWatchOptions {
  /** What one run may hold, Node itself included. */
  limitMb: number
  /** Those that have been running for longer than a moment. */
  running(): Child[]
  all(): Iterable<Child>
  exceeded(child: Child): void
}

const everyMs = 500
const allEveryMs = 10_000
const MB = 1024 * 1024

/**
 * Looks at what the process trees of runs hold together. Every process has limits of its own; this is for those that
 * hold little each. Short runs are never looked at.
 */
export class MemoryWatch {
  readonly #options: MemoryWatchOptions
  #timer: NodeJS.Timeout | undefined
  #lookedAtAll = 0

  constructor(options: MemoryWatchOptions) {
    this.#options = options
  }

  start(): void {
    if (pageBytes() > 0) this.#timer = setInterval(() => this.#look(), everyMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const { running, all, exceeded, limitMb } = this.#options
    const now = performance.now()
    const isTimeForAll = now - this.#lookedAtAll >= allEveryMs
    const children = isTimeForAll ? [...all()] : running()
    if (isTimeForAll) this.#lookedAtAll = now
    if (children.length === 0) return
    const processes = childrenByParent()
    for (const child of children) {
      const pids = below(child.pid, processes)
      const resident = sumOf(pids, residentBytes)
      if (resident > limitMb * MB && sumOf(pids, proportionalBytes) > limitMb * MB) exceeded(child)
      child.memoryMb = Math.round(sumOf(pids, privateBytes) / MB)
    }
  }
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = read(`/proc/${name}/stat`)
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2)[1])
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [Number(name)])
    else siblings.push(Number(name))
  }
  return children
}

function below(pid: number, children: Map<number, number[]>): number[] {
  const found: number[] = []
  for (const open = [pid]; open.length > 0;) {
    const next = children.get(open.pop()!) ?? []
    found.push(...next)
    open.push(...next)
  }
  return found
}

function sumOf(pids: number[], bytes: (pid: number) => number): number {
  return pids.reduce((sum, pid) => sum + bytes(pid), 0)
}

function residentBytes(pid: number): number {
  return pagesOf(pid, 1) * pageBytes()
}

function privateBytes(pid: number): number {
  return (pagesOf(pid, 1) - pagesOf(pid, 2)) * pageBytes()
}

function proportionalBytes(pid: number): number {
  const [, kilobytes = '0'] = /^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`)) ?? []
  return Number(kilobytes) * 1024
}

/** A field of statm: 1 resident, 2 shared. */
function pagesOf(pid: number | 'self', field: number): number {
  return Number(read(`/proc/${pid}/statm`).split(' ')[field] ?? 0)
}

let knownPageBytes: number | undefined

/** The size of a memory page; 0 where there is no /proc. */
function pageBytes(): number {
  const pages = () => pagesOf('self', 1)
  return (knownPageBytes ??= pages() === 0 ? 0 : 2 ** Math.round(Math.log2(process.memoryUsage.rss() / pages())))
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // It has just ended.
    return ''
  }
}
