import { constants } from 'node:os'
import { framesOf } from '@automation/errors/code-frames'
import type { Ending } from '../children/task.ts'

/** Why a run failed: what its timeline says, and the text of its last log line, which begins with it. */
export interface Reason {
  explanation: string
  log: string
}

const maxExplanation = 4096

/** A reason of the runner's own, such as `TimeoutError` and a sentence. */
export function reason(name: string, message: string): Reason {
  const text = `${name}: ${message}`
  return { explanation: text, log: text }
}

/** Why a run that took too long has failed. */
export function timedOut(timeoutMs: number): Reason {
  return reason('TimeoutError', `The run took longer than the ${seconds(timeoutMs)} that it was given`)
}

/** Why a run that wanted too much memory has failed. */
export function outOfMemory(memoryMb: number): Reason {
  return reason('OutOfMemoryError', `The run is out of memory: it may use ${memoryMb} MiB`)
}

/** What a child's own word on a failure, or its death, comes to. */
export function reasonOf(ending: Exclude<Ending, { kind: 'value' }>, memoryMb: number): Reason {
  if (ending.kind === 'failure') {
    const { name, message, stack } = ending
    if (name === 'MemoryError') return { ...outOfMemory(memoryMb), log: `${outOfMemory(memoryMb).log}\n${stack}` }
    const explanation = message === '' ? name || 'Error' : `${name || 'Error'}: ${message}`
    return { explanation, log: stack.startsWith(explanation) ? stack : `${explanation}\n${stack}`.trimEnd() }
  }
  const { exit, ofMemory } = ending
  if (ofMemory === 'run') return outOfMemory(memoryMb)
  if (ofMemory === 'runner')
    return reason(
      'OutOfMemoryError',
      'The memory of the runner, which several runs share, was used up, and this run was ended for it: run it again, or use less memory',
    )
  if (exit.kind === 'signal') return reason('Error', `The process was ended by ${signalName(exit.signal)}`)
  if (exit.kind === 'failed') return reason('Error', `The process could not go on: ${exit.words}`)
  return reason('Error', `The process ended (exit code ${exit.code}) before the run had a value`)
}

/** The line of this file that a failure names: the innermost one, which JavaScript tells first, and Python last. */
export function lineIn({ explanation, log }: Reason, fileName: string): number | undefined {
  const frames = framesOf(log, explanation).filter(({ file }) => file === fileName)
  return frames.at(fileName.endsWith('.py') ? -1 : 0)?.line
}

/** As the timeline takes it: one bounded text without what a database refuses. */
export function timelineText(explanation: string): string {
  const safe = explanation.replaceAll('\0', '\uFFFD').toWellFormed()
  return safe.length > maxExplanation ? `${safe.slice(0, maxExplanation).toWellFormed()}… (cut)` : safe
}

function seconds(ms: number): string {
  const value = ms / 1000
  return value === 1 ? 'one second' : `${value} s`
}

function signalName(number: number): string {
  const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? []
  return name ?? `signal ${number}`
}

/** What the network of runs keeps from them. */
export interface RunNetwork {
  /** TCP ports of the service itself. */
  closedPorts: readonly number[]
  /** Runs have a loopback of their own. */
  isOwn: boolean
}

// As Node and Python say it. Process code makes these texts: nothing here takes
// longer than a text is long.
const refused = /\bconnect E(?:CONNREFUSED|ACCES|HOSTUNREACH|NETUNREACH)\b|\[Errno (?:111|113|101)\]/
// Of a file its name follows.
const denied = /\[Errno 13\] Permission denied(?!: ['"])/
const ofConnections = /connect|urlopen|socket/i
const addresses =
  /(?:\bconnect E[A-Z]+ |:\/\/|host=')(127\.[\d.]{1,11}|localhost|::1|\[::1\])?[^\s/]{0,80}?(?::|(?:', )?port=)(\d{1,5})\b/g

/**
 * The reason of a failure, with a further sentence where it looks like a connection to the service's own ports, or to the
 * loopback of a machine that the run is not on.
 */
export function explainRefusal(reason: Reason, { closedPorts, isOwn }: RunNetwork): Reason {
  const { log } = reason
  // The kernel denies connections to closed ports alone; a plain socket of Python does not say to which.
  const isDenied = denied.test(log) && ofConnections.test(log)
  if (!refused.test(log) && !isDenied) return reason
  const found = [...log.matchAll(addresses)]
  const port = found.map(([, , digits]) => Number(digits)).find((each) => closedPorts.includes(each))
  const note =
    port === undefined
      ? (isOwn && found.some(([, host]) => host) && ownLoopback) || (isDenied && found.length === 0 && servicesOwn())
      : servicesOwn(port)
  if (!note) return reason
  const explanation = `${reason.explanation}; ${note}`
  return { explanation, log: explanation + log.slice(reason.explanation.length) }
}

// As puppeteer, playwright and selenium say it, with commands that install one.
const noBrowser =
  /\bCould not find (?:Chrome|Chromium|Firefox) \(|\bExecutable doesn't exist at |\bUnable to obtain driver for /

/** The reason of a failure, with what to do here where it is for want of a browser. */
export function explainBrowser(reason: Reason): Reason {
  if (!noBrowser.test(reason.explanation.slice(0, mostOfBrowser))) return reason
  const explanation = reason.explanation.replace(/^.*/, (line) => `${line}; ${browserElsewhere}`)
  return { explanation, log: explanation + reason.log.slice(reason.explanation.length) }
}

const mostOfBrowser = 1000
const browserElsewhere =
  'runs have no browser, and how to install one is not for them: use a package that holds one, such as @sparticuz/chromium, or connect to one elsewhere'

const ownLoopback =
  'a run has a network of its own: its loopback leads to what it has started itself, not to other programs of the machine'

function servicesOwn(port?: number): string {
  const which = port === undefined ? 'the port that it connects to' : `port ${port}`
  return `${which} is one of the service's own, which runs do not reach: use svc.processes, svc.storage and svc.datastore`
}
