import { readdirSync, readFileSync } from 'node:fs'

/** Processes of this machine whose command line has this text. */
export function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandOf(name).includes(text))
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}
