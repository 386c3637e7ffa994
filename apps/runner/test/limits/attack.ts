import { randomInt } from 'node:crypto'

export type Language = 'javascript' | 'python'

/** What a run does that takes more than its share, and how it is to end. */
export interface Attack {
  name: string
  /** The explanation of a run that fails, or the value of one that ends well. */
  ends: RegExp | { value: unknown }
  javascript?: string
  python?: string
  /** The last line of its log, but for the reason why the run failed. */
  logEnds?: RegExp
  /** What the run is given; enough for those that end on their own. */
  timeoutMs?: number
}

/** In the arguments of each process that an attack starts on its own. */
export const mark = `86399.${randomInt(1e9, 1e10)}`

// The program's own error where it is told of it, and may go on.
export const outOfMemory =
  /^OutOfMemoryError: The run is out of memory: it may use \d+ MiB$|^RangeError: .*\(out of memory\)$/
export const timedOut = /^TimeoutError: The run took longer than/
export const diskFull = /ENOSPC|EFBIG|No space left|File too large|^OutOfDiskError: The private directory/
export const noProcess =
  /EAGAIN|Resource temporarily unavailable|^OutOf(Processes|Files)Error: The run has more than|can't start new thread/
export const refused = /EACCES|Permission denied/
export const signalRefused = /^Error: kill EPERM$|^PermissionError: \[Errno 1\] Operation not permitted$/
export const killed = /^Error: The process was ended by SIGKILL$/
export const logCut = /^The log has reached its limit \(1000 lines, 300000 bytes\): the rest was dropped$/
export const lineCut = /^x{65536}… \(the rest of this line was cut\)$/
export const either = (...all: RegExp[]) => new RegExp(all.map(({ source }) => source).join('|'))

export const forever = 'await new Promise((r) => setTimeout(r, 1e6))'
export const shell = (command: string) =>
  `require('child_process').execSync(${JSON.stringify(command)}, { stdio: 'ignore' })`
export const pythonShell = (command: string) => `import os\nos.system(${JSON.stringify(command)})`
