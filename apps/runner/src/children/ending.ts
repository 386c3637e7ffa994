import type { Ending, Exit } from './task.ts'

/** Of a run for which no child could be started. */
export const notStarted: Ending = {
  kind: 'failure',
  name: 'Error',
  message: 'No process could be started for the run',
  stack: '',
}

const maxText = 128 * 1024
// The rest of what a child says holds names that process code has chosen, which may be secrets.
const uncleanKinds = [
  'a call to the service',
  'the look at what was left failed',
  'the global',
  'a global was removed',
  'the built-in',
  'a setting',
  'work that goes on',
  'many resources',
  'open',
  'an open file or connection',
  "files that can't be removed",
  'a file in shared memory',
  "processes that can't be ended",
  'child_process',
  'WORKER',
  'MESSAGEPORT',
]

/** A value frame: a flag and JSON text. The child is hostile, so the text is checked to be JSON; undefined when not. */
export function valueOf(payload: Buffer): Ending | undefined {
  const flag = payload[0]
  if (payload.length < 2 || (flag !== 0 && flag !== 1)) return undefined
  const json = payload.subarray(1)
  return isJson(json) ? { kind: 'value', json, transient: flag === 1 } : undefined
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString())
    return true
  } catch {
    return false
  }
}

/**
 * A failure frame: name, message and stack as JSON, or `died` with how the process of a run ended when its child goes
 * on; undefined when it is something else.
 */
export function failureOf(payload: Buffer): Ending | undefined {
  const sent = objectOf(payload)
  if (sent === undefined) return undefined
  const died = sent['died'] as { kind?: unknown; code?: unknown; signal?: unknown } | undefined
  if (died?.kind === 'exit') return { kind: 'died', exit: { kind: 'exit', code: Number(died.code) } }
  if (died?.kind === 'signal') return { kind: 'died', exit: { kind: 'signal', signal: Number(died.signal) } }
  return { kind: 'failure', name: textOf(sent['name']), message: textOf(sent['message']), stack: textOf(sent['stack']) }
}

/** A few words out of a frame; a longer one is nobody's that keeps the rules. */
export function wordsOf(payload: Buffer): string {
  return payload.toString('latin1', 0, 200)
}

/** Of what kind it is that a run has left in its child, as the service may log it. */
export function uncleanKindOf(payload: Buffer): string {
  const text = wordsOf(payload)
  return uncleanKinds.find((kind) => text.startsWith(kind)) ?? 'something else'
}

// What follows where an import fails is a name that code has chosen.
const importKinds = [
  'shared',
  'output',
  'open files or connections',
  'a random seed',
  'a module of the team',
  'processes',
  'files',
  'timers',
  'shared memory',
  'threads',
  'its end',
]

/** Whether what a version imports is shared by its runs, or why not. */
export function importsOf(payload: Buffer): string {
  const text = wordsOf(payload)
  return importKinds.includes(text) ? text : 'an error'
}

/** A JSON object out of a frame, or undefined. */
export function objectOf(payload: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(payload.toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, maxText).toWellFormed() : ''
}

/** The launcher's process id, which it reports first; 0 while it has not. */
export function pidOf(report: string): number {
  return Number(/^pid (\d+)\n/.exec(report)?.[1] ?? 0)
}

/** What the launcher reported at its end: `exit CODE`, `signal NUMBER` or `failed WORDS`. */
export function exitOf(report: string): Exit {
  const last = report.trimEnd().split('\n').at(-1) ?? ''
  const [, word, rest = ''] = /^(\w+) (.*)$/.exec(last) ?? []
  if (word === 'exit') return { kind: 'exit', code: Number(rest) }
  if (word === 'signal') return { kind: 'signal', signal: Number(rest) }
  return { kind: 'failed', words: (word === 'failed' && rest) || 'its launcher was ended' }
}

/** What a run took in its child, in ms. */
export interface RunTimes {
  ms: number
  /** Of that, how much it waited for a processor, where that is known. */
  heldUpMs: number
  /** And for anything else; all of it where that is not known. */
  waitedMs: number
}

/** Of a clean frame: microseconds as in `RunTimes`, the last two only of Python. It took no more than `mostMs`. */
export function runTimesOf(text: string, mostMs: number): RunTimes {
  const [took = 0, heldUp = 0, waited = took] = text.split(' ').map((word) => Number.parseInt(word) / 1000 || 0)
  const ms = Math.min(took, mostMs)
  return { ms, heldUpMs: Math.min(heldUp, ms), waitedMs: Math.min(waited, ms) }
}
