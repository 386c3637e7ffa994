import { below, firstChildOf, peakOf, timesOf, type CpuGroups, type Process } from '@automation/jail'
import type { ChildLanguage } from './programs.ts'

/** What a run took; what could not be measured is absent. */
export interface Used {
  /** Time on processors of all its processes, whole ms. */
  cpuMs?: number
  /** What they held at most, in MiB. */
  memoryMb?: number
}

/** Where processes of children are, and who counts their time. */
export interface MeterPlace {
  groups: CpuGroups | undefined
  /** How far below its launcher a child is. */
  depth: number
}

/** As launchers and the parents of Python runs say it. */
interface Said {
  cpuMs?: number
  peakBytes: number
}

const MB = 1024 * 1024

/**
 * Measures the runs of one child, one after the other, from outside: nothing that process code could say counts. Time is
 * that of its group where it has one, else of the child and what it has waited for. A run counts from where it begins.
 */
export class RunMeter {
  readonly #language: ChildLanguage
  readonly #place: MeterPlace
  #launcher = 0
  /** The child's own process; 0 while it is not known. */
  #child = 0
  #cpuBefore: number | undefined
  /** Parts of a millisecond that no run has been told to have taken. */
  #rest = 0
  #peakBefore = 0
  #held = 0
  #seenCpu = 0
  #seenMb = 0
  #said: Said | undefined

  constructor(language: ChildLanguage, place: MeterPlace) {
    this.#language = language
    this.#place = place
  }

  /** A run begins in the child of this launcher. */
  begin(launcher: number): void {
    this.#launcher = launcher
    if (this.#child === 0) this.#child = this.#find()
    this.#cpuBefore = this.#cpuNow()
    this.#seenCpu = 0
    this.#seenMb = 0
    this.#said = undefined
  }

  /** The run is looked at while it is on: with all processes of the machine. */
  look(processes: Map<number, Process[]>): void {
    if (this.#place.groups !== undefined || this.#child === 0) return
    const all = [this.#child, ...below(this.#child, processes).map(({ pid }) => pid)]
    const usedMs = all.map((pid) => timesOf(pid)).reduce((sum, times) => sum + times.usedMs + times.endedMs, 0)
    this.#seenCpu = Math.max(this.#seenCpu, usedMs)
  }

  /**
   * Of the processes below its launcher those of the run that is on, the one that runs the code first: what that is a fork
   * of, the template where there is one, is none of them. All where it is not known which is which.
   */
  ofRun(all: Process[], hasTemplate: boolean): Process[] {
    const child = all.find(({ pid }) => pid === this.#child)
    if (child === undefined) return all
    if (this.#language === 'javascript') return [child, ...besides(child, all)]
    const started = below(
      child.pid,
      Map.groupBy(all, ({ parent }) => parent),
    )
    // By number, not by age, which is read only while a process has a processor: numbers begin anew so rarely.
    return started.toSorted((a, b) => a.pid - b.pid).slice(hasTemplate ? 1 : 0)
  }

  /** The run's processes together are seen to hold so much. */
  holds(memoryMb: number): void {
    this.#seenMb = Math.max(this.#seenMb, memoryMb)
  }

  /** Of a Python run, by its parent, which knows no process code. */
  said(payload: Buffer): void {
    this.#said = saidIn(payload.toString('latin1'))
  }

  /** What the run took that ends now; `report` is its launcher's, where the child has gone. */
  end(report?: string): Used {
    const said = report === undefined ? undefined : saidIn(/^used (-?\d+ \d+)$/m.exec(report)?.[1] ?? '')
    return { cpuMs: this.#cpu(said), memoryMb: this.#memory(report !== undefined, said) }
  }

  #cpu(last: Said | undefined): number | undefined {
    // Without a group, what a fork had is known to its parent first: it is not waited for yet.
    const ofFork = this.#place.groups === undefined ? this.#said?.cpuMs : undefined
    const now = ofFork === undefined ? (last?.cpuMs ?? this.#cpuNow() ?? 0) : 0
    const gained = Math.max(now, this.#seenCpu) - (this.#cpuBefore ?? Infinity)
    const ms = Math.max(gained, ofFork ?? gained)
    if (ms === -Infinity || (now === 0 && this.#seenCpu === 0 && ofFork === undefined)) return undefined
    return this.#whole(Math.max(0, ms))
  }

  #whole(ms: number): number {
    const exact = ms + this.#rest
    const whole = Math.floor(exact)
    this.#rest = exact - whole
    return whole
  }

  #memory(hasGone: boolean, last: Said | undefined): number | undefined {
    const bytes = this.#said?.peakBytes ?? (hasGone ? this.#grown(last?.peakBytes ?? 0) : this.#peakNow()) ?? 0
    // Rounded, as sums of many are to be right.
    const mb = Math.max(Math.round(bytes / MB), this.#seenMb)
    return mb === 0 ? undefined : mb
  }

  /** A peak is the run's where it is above that of all before. */
  #grown(peakBytes: number): number {
    return peakBytes > this.#peakBefore ? peakBytes : this.#held
  }

  #peakNow(): number | undefined {
    if (this.#language === 'python' || this.#child === 0) return undefined
    const found = peakOf(this.#child)
    if (found === undefined) return undefined
    const { peakBytes, residentBytes } = found
    this.#held = residentBytes
    const peak = this.#grown(peakBytes)
    this.#peakBefore = peakBytes
    return peak
  }

  #cpuNow(): number | undefined {
    const { groups } = this.#place
    if (groups !== undefined) return groups.usedMs(this.#launcher)
    if (this.#child === 0) return undefined
    const { usedMs, endedMs, started } = timesOf(this.#child)
    return started === 0 ? undefined : usedMs + endedMs
  }

  #find(): number {
    let pid = this.#launcher
    for (let depth = 0; depth < this.#place.depth && pid !== 0; depth += 1) pid = firstChildOf(pid)
    return pid
  }
}

/** Microseconds, below 0 where they are not known, and KiB. */
function saidIn(text: string): Said | undefined {
  const [, cpu, peak] = /^(-?\d{1,15}) (\d{1,12})$/.exec(text) ?? []
  if (cpu === undefined) return undefined
  const cpuMs = Number(cpu) / 1000
  return { peakBytes: Number(peak) * 1024, ...(cpuMs >= 0 && { cpuMs }) }
}

/** All but the process and what it is below: also what a run has left behind, which is below the first process of its jail. */
function besides(child: Process, all: Process[]): Process[] {
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]))
  const line = new Set<number>()
  for (let pid: number | undefined = child.pid; pid !== undefined && !line.has(pid); pid = parents.get(pid))
    line.add(pid)
  return all.filter(({ pid }) => !line.has(pid))
}
