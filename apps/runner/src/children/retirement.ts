import type { ChildLanguage } from './programs.ts'

/** What is looked at of a child. Times are monotonic, in ms. */
export interface Aged {
  state: string
  startedAt: number
  /** When its last run ended. */
  freeSince: number
  memoryMb: number
  /** What it runs. */
  program: string
  /** It is called again and again, if only every few minutes. */
  isCalledAgain: boolean
}

export interface RetirementLimits {
  idleMs: number
  /** Of what is called again, one child is kept for so long where there is memory. */
  keptMs: number
  maxAgeMs: number
  memoryMb: number
}

/** What is looked at after each run. */
export interface Used extends Pick<Aged, 'startedAt' | 'freeSince'> {
  language: ChildLanguage
  runs: number
}

export interface Running {
  state: string
  runningSince: number
}

/** What a child is taken to hold until it is measured. */
export const usualMb = 48

/** A child that takes longer to look at itself is not believed. */
const checkMs = 2000
/** Node waits for its threads for ever where it may not make them, as while a run beside it takes all that there may be. */
const startMs = 10_000
/** When nothing has run for so long, only a few children are kept. */
const quietMs = 5000
const keptWhenQuiet = 4
const largeMb = 256
/** Those that are kept for longer have this part of the memory of all, while this part of the machine's is free. */
const keptPart = 1 / 8
const freePart = 1 / 4

/** Memory for idle children that are kept for longer, in MiB, where the machine has so much of it, and so much is free. */
export function memoryToKeepMb(limitMb: number, machine: { free: number; total: number }): number {
  return machine.free >= machine.total * freePart ? limitMb * keptPart : 0
}

/**
 * Those of these children that should end: old, large or long idle ones, all but a few when nothing runs, and what hangs.
 * Small ones of programs that are called again stay for longer, as far as there is memory for them.
 */
export function endings<C extends Aged>(
  children: Iterable<C>,
  now: number,
  limits: RetirementLimits,
  toKeepMb: number,
): C[] {
  const all = [...children]
  const idle = all.filter(({ state }) => state === 'idle').toSorted((a, b) => b.freeSince - a.freeSince)
  const newest = idle[0]?.freeSince ?? now
  const isQuiet = now - newest >= quietMs && !all.some(({ state }) => state === 'running' || state === 'checking')
  const largest = Math.min(largeMb, limits.memoryMb / 4)
  const kept = keptFor(idle, now - limits.keptMs, toKeepMb)
  const ends = idle.filter(
    (child, at) =>
      (!kept.has(child) && ((isQuiet && at >= keptWhenQuiet) || now - child.freeSince >= limits.idleMs)) ||
      now - child.startedAt >= limits.maxAgeMs ||
      child.memoryMb > largest,
  )
  const hangs = ({ state, startedAt, freeSince }: C) =>
    (state === 'checking' && now - freeSince >= checkMs) || (state === 'starting' && now - startedAt >= startMs)
  return [...ends, ...all.filter(hangs)]
}

/** Of each program that is called again the child that was idle last, the latest first, until the memory is used up. */
function keptFor<C extends Aged>(idle: C[], since: number, toKeepMb: number): Set<C> {
  const byProgram = new Map<string, C>()
  for (const child of idle) if (!byProgram.has(child.program)) byProgram.set(child.program, child)
  const kept = new Set<C>()
  let leftMb = toKeepMb
  for (const child of byProgram.values()) {
    if (!child.isCalledAgain || child.freeSince <= since || child.memoryMb > usualMb) continue
    leftMb -= child.memoryMb
    if (leftMb < 0) break
    kept.add(child)
  }
  return kept
}

/**
 * Whether a child has served long enough and retires. Python runs are forks: however many they are, nothing of them stays
 * but what their version has imported.
 */
export function mustRetire(child: Used, { maxRuns, maxAgeMs }: { maxRuns: number; maxAgeMs: number }): boolean {
  const hasRunEnough = child.language === 'javascript' && child.runs >= maxRuns
  return hasRunEnough || child.freeSince - child.startedAt >= maxAgeMs
}

/** What these hold together. */
export function memoryOf(children: Iterable<Aged>): number {
  let sum = 0
  for (const { memoryMb } of children) sum += memoryMb
  return sum
}

/** The idle one that retires where memory is short: of the team that holds the most, unwanted for the longest time. */
export function firstToGo<C extends Aged>(children: Iterable<C>, teamOf: (child: C) => string): C | undefined {
  const all = [...children]
  const heldBy = (team: string) => memoryOf(all.filter((child) => teamOf(child) === team))
  const idle = all.filter(({ state }) => state === 'idle')
  const held = new Map([...new Set(idle.map(teamOf))].map((team) => [team, heldBy(team)]))
  const more = (a: C, b: C) => held.get(teamOf(b))! - held.get(teamOf(a))!
  return idle.toSorted((a, b) => more(a, b) || a.freeSince - b.freeSince)[0]
}

/** Those of these children that have been running one task for longer than `ms`. */
export function longRunning<C extends Running>(children: Iterable<C>, ms: number): C[] {
  const since = performance.now() - ms
  return [...children].filter(({ state, runningSince }) => state === 'running' && runningSince < since)
}
