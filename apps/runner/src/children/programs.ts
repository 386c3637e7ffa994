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

/**
 * Files and directories that children need beside those of the system. What JavaScript children use beside what Node
 * brings is at the same place behind a wall, so that it is found there.
 */
export const programPlaces = [
  process.execPath,
  childrenPath,
  dirname(createRequire(import.meta.url).resolve('acorn/package.json')),
]

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
