import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodePlace, shownRoot, type JailProgram, type ProgramLink, type ProgramPlace } from '@automation/jail'
import { packageTable } from './package-table.ts'

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
export function daemonPlaces(): { places: ProgramPlace[]; links: ProgramLink[] } {
  const { packages, links } = packageTable(daemon, root)
  const shown = (path: string) => join(shownRoot, path)
  return {
    places: [nodePlace, ...packages.map((path) => ({ path: join(root, path), shown: shown(path) }))],
    links: links.map(({ path, to }) => ({ shown: shown(path), to: shown(to) })),
  }
}

/**
 * The daemon of a sandbox that may hold so much; its key comes by the first line of its input. `compiled` is where jails
 * show what Node has compiled of it. One that is kept ready rehearses, so that its first calls are as quick as others.
 */
export function daemonProgram(memoryMb: number, compiled: string, keptReady = false): JailProgram {
  const own = { DAEMON_LISTEN: 'fd:3', NODE_COMPILE_CACHE: compiled }
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
