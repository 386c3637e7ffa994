import type { RunImport, RunModule, RunSpec } from '@automation/contract/catalog/v1/resolve'
import { LogLevel } from '@automation/contract/execution/v1/execution'
import { Language } from '@automation/contract/common/v1/language'
import type { ChildPool } from '../children/pool.ts'
import type { InstallEvents } from '../dependencies/installer.ts'
import type { DependencySets } from '../dependencies/sets.ts'
import type { ActiveRun } from './active-run.ts'
import type { ChildLanguage } from '../children/programs.ts'
import { FrameType, jsonFrame } from '../children/frames.ts'
import type { Program, ShownPackages, Surroundings } from '../children/task.ts'
import type { Mask } from '../logs/masking.ts'
import { type MaskInMaking, Masks } from '../logs/masks.ts'

interface VersionOptions {
  masks: Masks
  globalNames: string[]
  returnValueMaxBytes: number
  logMaxLines: number
  logMaxBytes: number
  /** Where the packages of a set lie, and where its children find them; undefined for none. */
  packagesOf?(spec: RunSpec): { shown: ShownPackages; found: string } | undefined
}

/** A process version as runs of it need it, made once from a RunSpec and kept as long as that. Holds secrets. */
export class Version {
  readonly spec: RunSpec
  readonly program: Program
  readonly surroundings: Surroundings
  /** As stacks name the source of the process. */
  readonly fileName: string
  readonly #masks: Masks
  #masking: MaskInMaking | undefined

  constructor(spec: RunSpec, options: VersionOptions) {
    this.#masks = options.masks
    this.spec = spec
    this.fileName = `${spec.processSlug || 'process'}${extensions[childLanguage(spec.language)]}`
    this.program = programOf(spec, options)
    this.surroundings = surroundingsOf(spec)
  }

  /** Of its secrets; made for its first run, which waits for it. */
  get masking(): MaskInMaking {
    return (this.#masking ??= this.#masks.of(this.spec.team, secretsOf(this.spec)))
  }

  get mask(): Mask {
    return this.masking.mask
  }
}

function secretsOf({ variables }: RunSpec): string[] {
  return variables.filter(({ isSensitive }) => isSensitive).map(({ value }) => value)
}

const extensions: Record<ChildLanguage, string> = { javascript: '.js', python: '.py' }

function childLanguage(language: Language): ChildLanguage {
  return language === Language.PYTHON ? 'python' : 'javascript'
}

function programOf(spec: RunSpec, options: VersionOptions): Program {
  const { team, digest, language, processSlug, sourceCode, modulesFault, dependenciesError } = spec
  const { globalNames, returnValueMaxBytes, logMaxLines, logMaxBytes } = options
  const child = childLanguage(language)
  const packages = options.packagesOf?.(spec)
  const frame = jsonFrame(FrameType.program, {
    source: sourceCode,
    fileName: `${processSlug || 'process'}${extensions[child]}`,
    imports: importsOf(spec.imports),
    modules: spec.modules.map((each) => ({
      name: each.name,
      fileName: fileNameOf(each, extensions[child]),
      source: each.sourceCode,
      imports: importsOf(each.imports),
    })),
    unmet: spec.unmetImports.map(({ name, tag, near, versions, hasNoVersions }) => ({
      name,
      tag,
      near,
      versions,
      hasNoVersions,
    })),
    modulesFault,
    packagesFault: dependenciesError,
    names: globalNames,
    logs: { lines: logMaxLines, bytes: logMaxBytes },
    returnValueMaxBytes,
    packages: packages?.found,
  })
  const set = packages?.shown.key ?? ''
  const key = [team, Language[language], globalNames.join(), set, dependenciesError ?? '', digest].join('\n')
  return { language: child, team, key, packages: packages?.shown, frame }
}

function importsOf(imports: RunImport[]) {
  return imports.map(({ name, tag, module }) => ({ name, tag, module }))
}

/** As stacks name it: `modules/name.js`, with the tag of its version, and the team that it is inherited from. */
function fileNameOf({ name, tag, team }: RunModule, extension: string): string {
  return `modules/${team === undefined ? '' : `${team}/`}${name}${tag === undefined ? '' : `@${tag}`}${extension}`
}

function surroundingsOf({ team, timeZone, processId, processName, processSlug, variables }: RunSpec): Surroundings {
  const frame = jsonFrame(FrameType.surroundings, {
    team,
    timeZone,
    process: { id: processId, name: processName, slug: processSlug },
    variables: Object.fromEntries(variables.map(({ key, value }) => [key, value])),
  })
  return { frame }
}

/** Starts runs: process code in children, as soon as its packages are here, and installs by themselves. */
export class RunStarter {
  readonly #pool: ChildPool
  readonly #sets: DependencySets
  readonly #masks = new Masks()
  /** Runs that wait for their mask or their packages. */
  readonly #waiting = new Set<ActiveRun>()

  readonly #packagesOf: VersionOptions['packagesOf']

  constructor(pool: ChildPool, { sets, packagesOf }: { sets: DependencySets } & Pick<VersionOptions, 'packagesOf'>) {
    this.#pool = pool
    this.#sets = sets
    this.#packagesOf = packagesOf
  }

  /** A version as it is run here, with its packages where they are found. */
  versionOf(spec: RunSpec, options: Omit<VersionOptions, 'masks'>): Version {
    return new Version(spec, { ...options, masks: this.#masks, packagesOf: this.#packagesOf })
  }

  run(run: ActiveRun): void {
    const { masking } = run.version
    if (masking.isMade) return this.#run(run)
    this.#waiting.add(run)
    void masking.made.then(() => this.#waiting.delete(run) && this.#run(run))
  }

  #run(run: ActiveRun): void {
    const { team, language, dependencies, isInstall } = run.version.spec
    if (dependencies === undefined) return this.#pool.run(run)
    if (isInstall) return void this.#install(run)
    if (this.#sets.isHere(language, dependencies)) return this.#pool.run(run)
    this.#waiting.add(run)
    const { signal } = run
    void this.#sets.make({ team, language, set: dependencies, token: run.run.token, signal }).then(
      () => this.#waiting.delete(run) && this.#pool.run(run),
      (error: unknown) => this.#waiting.delete(run) && run.ended(failure(error)),
    )
  }

  /** Takes back a run that nothing has begun; false when something has. */
  withdraw(run: ActiveRun): boolean {
    return this.#waiting.delete(run) || this.#pool.withdraw(run)
  }

  async #install(run: ActiveRun): Promise<void> {
    const { team, language, dependencies: set } = run.version.spec
    this.#waiting.add(run)
    const install: InstallEvents = {
      line: (text) => run.output(LogLevel.INFO, text, false),
      began: (end) => {
        if (!this.#waiting.delete(run)) return end('kill')
        run.started({ end, send: () => undefined, listen: () => undefined, pid: 0 })
      },
    }
    try {
      const { bytes, digest, resolved } = await this.#sets.make({
        team,
        language,
        set: set!,
        token: run.run.token,
        signal: run.signal,
        install,
      })
      run.ended({ kind: 'value', json: Buffer.from(JSON.stringify({ bytes, digest, resolved })), transient: false })
    } catch (error) {
      this.#waiting.delete(run)
      run.ended(failure(error))
    }
  }
}

function failure(error: unknown) {
  const message = error instanceof Error ? error.message : String(error)
  return { kind: 'failure', name: 'InstallError', message, stack: '' } as const
}
