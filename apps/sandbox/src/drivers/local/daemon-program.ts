import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeMount, shownRoot, type JailProgram, type ProgramLink, type ProgramMount } from '@automation/jail'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const daemon = join(root, 'apps/sandbox-daemon')

const MB = 1024 * 1024
// Node's own share of RLIMIT_DATA before any code (measured: 560 MiB), and room for threads and compiled code.
const nodeDataMb = 688

const plainEnvironment = {
  PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  // Filled in by the launcher.
  HOME: '',
  LANG: 'C.UTF-8',
  TZ: 'UTC',
}

/** What the daemon needs beside the system: Node, itself and all packages that it imports, in the order of this repository. */
export function daemonMounts(): { mounts: ProgramMount[]; links: ProgramLink[] } {
  const { packages, links } = packageTable(daemon, root)
  const shown = (path: string) => join(shownRoot, path)
  return {
    mounts: [nodeMount, ...packages.map((path) => ({ path: join(root, path), shown: shown(path) }))],
    links: links.map(({ path, to }) => ({ shown: shown(path), to: shown(to) })),
  }
}

interface DaemonProgramOptions {
  /** What its sandbox may hold. */
  memoryMb: number
  /** Where jails show what Node has compiled of it. */
  compiled: string
  /** What opens terminals. */
  python: string
  /** It rehearses, so that its first calls are as quick as others. */
  keptReady: boolean
}

/** The daemon of a sandbox; its key comes by the first line of its input. */
export function daemonProgram({ memoryMb, compiled, python, keptReady }: DaemonProgramOptions): JailProgram {
  const own = { DAEMON_LISTEN: 'fd:3', NODE_COMPILE_CACHE: compiled, DAEMON_PYTHON: python }
  return {
    program: [process.execPath, '--disable-sigusr1', join(daemon, 'src/main.ts')],
    // The service's own environment never reaches a sandbox.
    environment: { ...plainEnvironment, ...own, ...(keptReady && { DAEMON_REHEARSES: 'yes' }) },
    dataLimitBytes: (nodeDataMb + memoryMb) * MB,
    channels: [0],
    listens: true,
  }
}

/** Compiles the daemon and says on descriptor 4 what came of it; files by their paths, in base64. */
export const compilingProgram: JailProgram = {
  program: [process.execPath, '--disable-sigusr1', join(daemon, 'src/compiled.ts')],
  environment: plainEnvironment,
  dataLimitBytes: (nodeDataMb + 256) * MB,
  channels: [4],
}

/** What must run in isolation: Node. */
export const trialProgram: JailProgram = {
  program: [process.execPath, '-e', `require('fs').writeSync(4, 'here')`],
  environment: plainEnvironment,
  dataLimitBytes: (nodeDataMb + 256) * MB,
}

/** Packages by their paths below the root, and the links by which workspaces are found among them. */
interface PackageTable {
  packages: string[]
  links: { path: string; to: string }[]
}

interface Manifest {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/** A package and all that it depends on, as Node finds it. Throws when one is not installed. */
function packageTable(folder: string, root: string): PackageTable {
  const packages = new Set<string>()
  const links = new Map<string, string>()
  const open = [folder]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const path = relative(root, each)
    if (packages.has(path)) continue
    packages.add(path)
    const { dependencies = {}, optionalDependencies = {} } = manifestOf(each)
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      // Types are read by no program.
      if (name.startsWith('@types/')) continue
      const found = findPackage(name, each, root)
      if (found === undefined && name in optionalDependencies) continue
      if (found === undefined) throw new Error(`The package ${name} of ${path} is not installed`)
      const real = realpathSync(found)
      if (real !== found) links.set(relative(root, found), relative(root, real))
      open.push(real)
    }
  }
  const all = [...packages].toSorted()
  return {
    // What lies in another comes with it.
    packages: all.filter((path) => !all.some((other) => path.startsWith(`${other}/`))),
    links: [...links].map(([path, to]) => ({ path, to })),
  }
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function findPackage(name: string, from: string, root: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name)
    if (existsSync(join(path, 'package.json'))) return path
    if (relative(root, folder) === '' || folder === dirname(folder)) return undefined
  }
}
