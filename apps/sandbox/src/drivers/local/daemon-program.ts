import { dirname, join } from 'node:path'
import type { JailProgram } from '@automation/jail'

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

interface DaemonProgramOptions {
  /** What its sandbox may hold. */
  memoryMb: number
  /** Where it finds its files. */
  files: string
  /** What opens terminals. */
  python: string
  /** It rehearses, so that its first calls are as quick as others. */
  keptReady: boolean
}

/** The daemon of a sandbox; its key comes by the first line of its input. */
export function daemonProgram({ memoryMb, files, python, keptReady }: DaemonProgramOptions): JailProgram {
  const own = { DAEMON_LISTEN: 'fd:3', NODE_COMPILE_CACHE: files, DAEMON_PYTHON: python }
  return {
    program: [process.execPath, '--disable-sigusr1', join(files, 'main.ts')],
    // The service's own environment never reaches a sandbox.
    environment: { ...plainEnvironment, ...own, ...(keptReady && { DAEMON_REHEARSES: 'yes' }) },
    dataLimitBytes: (nodeDataMb + memoryMb) * MB,
    channels: [0],
    listens: true,
  }
}

/** Compiles the daemon and says on descriptor 4 what came of it; files by their paths, in base64. */
export function compilingProgram(files: string): JailProgram {
  return {
    program: [process.execPath, '--disable-sigusr1', join(files, 'compiled.ts')],
    environment: plainEnvironment,
    dataLimitBytes: (nodeDataMb + 256) * MB,
    channels: [4],
  }
}

/** What must run in isolation: Node. */
export const trialProgram: JailProgram = {
  program: [process.execPath, '-e', `require('fs').writeSync(4, 'here')`],
  environment: plainEnvironment,
  dataLimitBytes: (nodeDataMb + 256) * MB,
}
