import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  jailPythonPath,
  launcherModulesPath,
  nodeMount,
  shownRoot,
  type Isolation,
  type JailProgram,
  type ProgramMount,
} from '@automation/jail'

/** The languages that children speak. */
export type ChildLanguage = 'javascript' | 'python'

/** What is started as the child of a language. */
export interface ChildProgram extends JailProgram {
  language: ChildLanguage
}

export interface ProgramOptions {
  /** The Python interpreter; undefined when there is none that can run Python processes. */
  python: string | undefined
  /** What `compileJavaScript` has made; undefined where it could not. */
  compiled: string | undefined
  memoryMb: number
}

const childrenPath = fileURLToPath(new URL('../../children', import.meta.url))
const pathOf = (path: string) => join(childrenPath, path)

/** What children need beside the system, in the order of this repository. */
export const programMounts: ProgramMount[] = [
  nodeMount,
  { path: childrenPath, shown: `${shownRoot}/apps/runner/children` },
  { path: jailPythonPath, shown: `${shownRoot}/libs/jail/python` },
  {
    path: dirname(createRequire(import.meta.url).resolve('acorn/package.json')),
    shown: `${shownRoot}/node_modules/acorn`,
  },
]

/** Where a jail shows a child its packages. */
export const packagesPath = `${shownRoot}/dependencies`

const MB = 1024 * 1024
// Node's own share of RLIMIT_DATA before any user code (measured: 560 MiB), and room for threads and compiled code.
const nodeDataMb = 560
const nodeSlackMb = 128
// Close to its own limit, V8 collects in vain for many seconds: the watch over a run's memory is to come before it.
const heapShare = 1.25
// Python's own share with all that is imported ahead (measured: 26 MiB), and room for stacks of threads.
const pythonDataMb = 40
const pythonSlackMb = 64

/**
 * Has the interpreter compile ahead what Python children and launchers consist of; otherwise each does so when it starts, for
 * half of its time. Rejects where their directories can't be written, and it has not been done before.
 */
export async function compilePython(python: string): Promise<void> {
  const directories = [pathOf('python'), jailPythonPath, launcherModulesPath]
  await promisify(execFile)(python, ['-I', '-S', pathOf('compile_python.py'), ...directories])
}

const compileWithinMs = 30_000

/** What compile.js exports. */
interface Compiler {
  pathOfFile(): string
  isWhole(path: string): boolean
}

/**
 * Has V8 compile ahead what JavaScript children consist of, and gives the path of that; otherwise each does so when it starts.
 * Rejects where its directory can't be written, and it has not been done before.
 */
export async function compileJavaScript(): Promise<string> {
  const compiler = pathOf('javascript/compile.js')
  const { pathOfFile, isWhole } = createRequire(import.meta.url)(compiler) as Compiler
  const path = pathOfFile()
  if (!isWhole(path)) await promisify(execFile)(process.execPath, [compiler], { timeout: compileWithinMs })
  return path
}

/** The programs of the languages that can be run here. */
export function childPrograms({ python, compiled, memoryMb }: ProgramOptions): ChildProgram[] {
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
      program: [
        node,
        `--max-old-space-size=${Math.ceil(memoryMb * heapShare)}`,
        '--disable-sigusr1',
        ...(compiled === undefined ? [pathOf('javascript/main.js')] : [pathOf('javascript/start.js'), compiled]),
      ],
      dataLimitBytes: (nodeDataMb + nodeSlackMb + memoryMb) * MB,
      environment: environment(node),
    },
  ]
  if (python !== undefined)
    programs.push({
      language: 'python',
      program: [python, '-I', '-S', pathOf('python/main.py')],
      ahead: pathOf('python/main.py'),
      dataLimitBytes: (pythonDataMb + pythonSlackMb + memoryMb) * MB,
      environment: { ...environment(python), LD_BIND_NOW: '1' },
    })
  return programs
}

/**
 * As it is started in this isolation: Python children give each run a Landlock domain of its own, but on the network of the
 * host, where each of them would copy the rules for all ports.
 */
export function inIsolation(program: ChildProgram, { network }: Pick<Isolation, 'network'>): ChildProgram {
  return program.language === 'javascript' || network === 'host'
    ? program
    : { ...program, program: [...program.program, 'domains'] }
}
