import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import { LogLevel } from '@automation/contract/execution/v1/execution'
import type { ChildPool } from '../children/pool.ts'
import type { InstallEvents } from '../dependencies/installer.ts'
import type { DependencySets } from '../dependencies/sets.ts'
import type { ActiveRun } from './active-run.ts'
import { Version, type VersionOptions } from './version.ts'

/** Starts runs: process code in children, as soon as its packages are here, and installs by themselves. */
export class RunStarter {
  readonly #pool: ChildPool
  readonly #sets: DependencySets
  /** Runs that wait for their packages. */
  readonly #waiting = new Set<ActiveRun>()

  readonly #packagesOf: VersionOptions['packagesOf']

  constructor(pool: ChildPool, { sets, packagesOf }: { sets: DependencySets } & Pick<VersionOptions, 'packagesOf'>) {
    this.#pool = pool
    this.#sets = sets
    this.#packagesOf = packagesOf
  }

  /** A version as it is run here, with its packages where they are found. */
  versionOf(spec: RunSpec, options: VersionOptions): Version {
    return new Version(spec, { ...options, packagesOf: this.#packagesOf })
  }

  run(run: ActiveRun): void {
    const { language, dependencies, isInstall } = run.version.spec
    if (dependencies === undefined) return this.#pool.run(run)
    if (isInstall) return void this.#install(run)
    if (this.#sets.isHere(language, dependencies)) return this.#pool.run(run)
    this.#waiting.add(run)
    void this.#sets.make({ language, set: dependencies, token: run.run.token }).then(
      () => this.#waiting.delete(run) && this.#pool.run(run),
      (error: unknown) => this.#waiting.delete(run) && run.ended(failure(error)),
    )
  }

  /** Takes back a run that nothing has begun; false when something has. */
  withdraw(run: ActiveRun): boolean {
    return this.#waiting.delete(run) || this.#pool.withdraw(run)
  }

  async #install(run: ActiveRun): Promise<void> {
    const { language, dependencies: set } = run.version.spec
    this.#waiting.add(run)
    const install: InstallEvents = {
      line: (text) => run.output(LogLevel.INFO, text, false),
      began: (end) => {
        if (!this.#waiting.delete(run)) return end('kill')
        run.started({ end, send: () => undefined, listen: () => undefined, pid: 0 })
      },
    }
    try {
      const made = await this.#sets.make({ language, set: set!, token: run.run.token, install })
      run.ended({ kind: 'value', json: Buffer.from(JSON.stringify(made)), transient: false })
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
