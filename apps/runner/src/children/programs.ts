import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The languages that children speak. */
export type ChildLanguage = 'javascript' | 'python'

/** What is started as the child of a language. */
export interface ChildProgram {
  language: ChildLanguage
  /** Path and arguments. */
  program: string[]
  /** RLIMIT_DATA of each of its processes. */
  dataLimitBytes: number
  environment: Record<string, string>
}

export interface ProgramOptions {
  /** The Python interpreter; undefined when there is none that can run Python processes. */
  python: string | undefined
  memoryMb: number
}

const childrenPath = fileURLToPath(new URL('../../children', import.meta.url))
const pathOf = (path: string) => join(childrenPath, path)

/** A file or directory that children need beside those of the system, and where a jail shows it. */
export interface ProgramPlace {
  path: string
  shown: string
}

// In the order of this repository, by which children find what they use; the machine's own place is not shown.
const home = '/opt/automation'

export const programPlaces: ProgramPlace[] = [
  { path: process.execPath, shown: `${home}/bin/node` },
  { path: childrenPath, shown: `${home}/apps/runner/children` },
  {
    path: dirname(createRequire(import.meta.url).resolve('acorn/package.json')),
    shown: `${home}/node_modules/acorn`,
  },
]

/** The same program as it is found in a jail. */
export function inJail({ program, environment, ...rest }: ChildProgram): ChildProgram {
  const [{ path: node, shown }] = programPlaces as [ProgramPlace]
  const found = (text: string) => {
    const place = programPlaces.find(({ path }) => text === path || text.startsWith(`${path}/`))
    return place === undefined ? text : place.shown + text.slice(place.path.length)
  }
  const path = environment['PATH']!.replace(dirname(node), dirname(shown))
  return { ...rest, program: program.map(found), environment: { ...environment, PATH: path } }
}

const MB = 1024 * 1024
// Node's own share of RLIMIT_DATA before any user code (measured: 560 MiB), and room for threads and compiled code.
const nodeDataMb = 560
const nodeSlackMb = 128
// Python's own share with all that is imported ahead (measured: 26 MiB), and room for stacks of threads.
const pythonDataMb = 40
const pythonSlackMb = 64

/** The programs of the languages that can be run here. */
export function childPrograms({ python, memoryMb }: ProgramOptions): ChildProgram[] {
  // The service's own environment never reaches process code.
  const environment = (program: string) => ({
    PATH: `${join(program, '..')}:/usr/local/bin:/usr/bin:/bin`,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
  })
  const node = process.execPath
  const programs: ChildProgram[] = [
    {
      language: 'javascript',
      program: [node, `--max-old-space-size=${memoryMb}`, '--disable-sigusr1', pathOf('javascript/main.js')],
      dataLimitBytes: (nodeDataMb + nodeSlackMb + memoryMb) * MB,
      environment: environment(node),
    },
  ]
  if (python !== undefined)
    programs.push({
      language: 'python',
      program: [python, '-I', '-S', pathOf('python/main.py')],
      dataLimitBytes: (pythonDataMb + pythonSlackMb + memoryMb) * MB,
      environment: environment(python),
    })
  return programs
}
