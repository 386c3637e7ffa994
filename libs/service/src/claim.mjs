// Plain JavaScript without dependencies: the install script runs it on Node 20, before anything is installed.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Takes a folder for this process alone. Each candidate writes a file named after its process (id, start time, boot),
 * so that a dead one's file can be told from a living one's even when its id was given away again, and removing it can
 * never hit another. Who sees another living candidate after writing its own file steps back.
 *
 * @param {string} folder where the claims lie; made when absent
 * @param {Record<string, unknown>} details what a second candidate is told
 * @returns {Promise<{ held: true, tell(details: Record<string, unknown>): void, release(): void }
 *   | { held: false, holder: { pid: number, details: Record<string, unknown> } }>}
 */
export async function claim(folder, details) {
  mkdirSync(folder, { recursive: true })
  const mine = `${process.pid}-${startOf(process.pid)}-${randomBytes(4).toString('hex')}`
  for (;;) {
    const holder = others(folder, mine).find((other) => other.taken)
    if (holder !== undefined) return { held: false, holder }
    write(folder, mine, { taken: false, details })
    const rivals = others(folder, mine)
    if (rivals.length === 0) break
    rmSync(join(folder, mine), { force: true })
    const taken = rivals.find((rival) => rival.taken)
    if (taken !== undefined) return { held: false, holder: taken }
    await pause(5 + Math.random() * 50)
  }
  write(folder, mine, { taken: true, details })
  return {
    held: true,
    tell: (changed) => write(folder, mine, { taken: true, details: changed }),
    release: () => rmSync(join(folder, mine), { force: true }),
  }
}

/**
 * Who holds the folder now, if anybody does.
 *
 * @param {string} folder
 * @returns {{ pid: number, details: Record<string, unknown> } | undefined}
 */
export function holderOf(folder) {
  return others(folder, '').find((other) => other.taken)
}

function write(folder, name, content) {
  const aside = join(folder, `.${name}`)
  writeFileSync(aside, JSON.stringify(content), { mode: 0o600 })
  renameSync(aside, join(folder, name))
}

function others(folder, mine) {
  return entries(folder)
    .filter((name) => name !== mine && name !== `.${mine}`)
    .flatMap((name) => {
      const [, pid, start] = /^\.?(\d+)-(\w+)-\w+$/.exec(name) ?? []
      if (pid === undefined) return []
      if (startOf(Number(pid)) === start) return name.startsWith('.') ? [] : [read(folder, name, Number(pid))]
      rmSync(join(folder, name), { force: true })
      return []
    })
}

function entries(folder) {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

function read(folder, name, pid) {
  try {
    const { taken, details } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    return { pid, taken, details }
  } catch (error) {
    // Released meanwhile: counts as a candidate that has not taken it, so that the caller looks again.
    if (error.code === 'ENOENT') return { pid, taken: false, details: {} }
    throw error
  }
}

/** A word that no other process with this id has had or will have; undefined when there is no such process. */
function startOf(pid) {
  if (process.platform !== 'linux') return startByPs(pid)
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    return `${fields[19]}b${bootId()}`
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined
    throw error
  }
}

function bootId() {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)
}

function startByPs(pid) {
  try {
    return (
      execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).replace(/\W+/g, '') || undefined
    )
  } catch (error) {
    if (error.status === 1) return undefined
    throw error
  }
}
