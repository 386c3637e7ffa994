import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What is started as a child. */
export interface JailProgram {
  /** Path and arguments. */
  program: string[]
  environment: Record<string, string>
  /** RLIMIT_DATA of each of its processes. */
  dataLimitBytes: number
  /** Which of its descriptors are connected to us: 0, 3 or 4; 3 and 4 unless this says otherwise. */
  channels?: number[]
  /**
   * Its file, where it is a Python program that can be imported ahead: in isolation that does not part teams its children are
   * forks of a process that has imported it, and call its function `live` with their arguments.
   */
  ahead?: string
  /** Its descriptor 3 is a listening Unix socket, which others reach by a path. */
  listens?: boolean
}

/** A file or directory that children need beside those of the system, and where a jail shows it. */
export interface ProgramMount {
  path: string
  shown: string
}

/**
 * Where jails show what is ours: in the order of this repository, by which programs find what they use. The machine's
 * own path is not shown.
 */
export const shownRoot = '/opt/automation'

/** The Node that runs this, as children find it. */
export const nodeMount: ProgramMount = { path: process.execPath, shown: `${shownRoot}/bin/node` }

/** Modules of launchers that Python programs in jails use, too. */
export const jailPythonPath = fileURLToPath(new URL('../python', import.meta.url))

/** The modules of launchers alone, which no jail shows. */
export const launcherModulesPath = fileURLToPath(new URL('../launcher', import.meta.url))

/** The same program as it is found in a jail that shows these mounts. */
export function inJail<T extends JailProgram>(program: T, mounts: readonly ProgramMount[]): T {
  const found = (text: string) => {
    const mount = mounts.find(({ path }) => text === path || text.startsWith(`${path}/`))
    return mount === undefined ? text : mount.shown + text.slice(mount.path.length)
  }
  const { environment } = program
  const path = environment['PATH']?.replace(dirname(nodeMount.path), dirname(nodeMount.shown))
  return {
    ...program,
    program: program.program.map(found),
    environment: path === undefined ? environment : { ...environment, PATH: path },
  }
}
