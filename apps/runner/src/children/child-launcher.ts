import type { Socket } from 'node:net'
import {
  type CpuGroups,
  findInterpreter,
  isOlder,
  Launcher,
  type Launched as LaunchedProgram,
  type Isolation,
  type IsolationConfig,
} from '@automation/jail'
import type { Logger } from '@automation/service'
import type { Spares } from './spares.ts'
import {
  childPrograms,
  compileJavaScript,
  compilePython,
  inIsolation,
  packagesPath,
  programMounts,
  type ChildLanguage,
  type ChildProgram,
} from './programs.ts'

/** A started child: its channels by name. */
export interface Launched extends Omit<LaunchedProgram, 'channels'> {
  frames: Socket
  answers: Socket
}

export interface ChildLauncherOptions {
  python: string
  tmpDir: string
  tmpMb: number
  memoryMb: number
  isolation: IsolationConfig
  groups: CpuGroups | undefined
  logger: Logger
}

const slowly = (language: string) => `${language} children start more slowly: their modules could not be compiled ahead`
// The first versions of Python that runs processes.
const oldest = [3, 11]

/** Starts spare children of the languages. */
export class ChildLauncher {
  /** Why Python processes can't be run here; undefined when they can. */
  readonly withoutPython: string | undefined
  /** Such as 3.11.2. */
  readonly pythonVersion: string
  readonly #programs: ChildProgram[]
  readonly #launcher: Launcher

  private constructor(
    launcher: Launcher,
    programs: ChildProgram[],
    withoutPython: string | undefined,
    pythonVersion: string,
  ) {
    this.pythonVersion = pythonVersion
    this.#launcher = launcher
    this.#programs = programs
    this.withoutPython = withoutPython
  }

  /**
   * Finds Python and chooses the isolation by trying. Throws words for people where there is no Python, or no isolation that the
   * configuration allows.
   */
  static async prepare({ python, memoryMb, tmpMb, ...options }: ChildLauncherOptions): Promise<ChildLauncher> {
    const compiling = compileJavaScript().catch((error) => {
      options.logger.info({ error }, slowly('JavaScript'))
      return undefined
    })
    const [interpreter, compiled] = await Promise.all([findInterpreter(python), compiling])
    const { path, version } = interpreter
    const withoutPython = isOlder(version, oldest) ? wordsOn(version) : undefined
    if (withoutPython !== undefined) options.logger.warn({ python: path }, withoutPython)
    const programs = childPrograms({ python: withoutPython === undefined ? path : undefined, compiled, memoryMb })
    const mounts = programMounts
    const [launcher] = await Promise.all([
      Launcher.prepare({ name: 'runner', interpreter, mounts, trials: programs, homeMb: tmpMb, ...options }),
      withoutPython === undefined &&
        compilePython(path).catch((error) => options.logger.info({ error }, slowly('Python'))),
    ])
    const started = programs.map((each) => inIsolation(each, launcher.isolation))
    return new ChildLauncher(launcher, started, withoutPython, version)
  }

  /** In which children are; undefined where they have none. */
  get groups(): CpuGroups | undefined {
    return this.#launcher.groups
  }

  /** How far below its launcher a child is. */
  get depth(): number {
    return this.isolation.level === 'namespaces' ? 2 : 1
  }

  /** The isolation around all children. */
  get isolation(): Isolation {
    return this.#launcher.isolation
  }

  /** The languages of which children can be started. */
  get languages(): ChildLanguage[] {
    return this.#programs.map(({ language }) => language)
  }

  /**
   * Starts a spare child of a language, which finds these packages; one that is made ahead has a low CPU priority.
   * Rejects when it does not come.
   */
  async start({ language, packages }: Pick<Spares, 'language' | 'packages'>, isAhead = false): Promise<Launched> {
    const program = this.#programs.find((each) => each.language === language)
    if (program === undefined) throw new Error(`children of ${language} can't be started here`)
    const { channels, ...launched } = await this.#launcher.start(
      program,
      packages === undefined ? [] : [{ path: packages.path, shown: packagesPath }],
      isAhead,
    )
    const [frames, answers] = channels as [Socket, Socket]
    return { ...launched, frames, answers }
  }

  /** Nothing more is started: what is on its way is given up. */
  refuse(): void {
    this.#launcher.refuse()
  }

  close(): void {
    this.#launcher.close()
  }
}

function wordsOn(version: string): string {
  return `Python processes need Python ${oldest.join('.')} or later; this runner has ${version} (RUNNER_PYTHON)`
}
