import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Processes of this machine whose command line has this text. */
export function processesWith(text: string): string[] {
  return pids().filter((pid) => ofProcess(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1')).includes(text))
}

/** Processes whose working directory is below this one. */
export function processesIn(directory: string): string[] {
  return pids().filter((pid) => ofProcess(() => readlinkSync(`/proc/${pid}/cwd`)).startsWith(directory))
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
