import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import type { PartContext } from '@automation/service'
import type { ChildLauncher } from '../children/child-launcher.ts'
import { packagesPath } from '../children/programs.ts'
import type { ChildPool } from '../children/pool.ts'
import type { RunnerConfig } from '../config.ts'
import { Installer } from './installer.ts'
import { setMetrics } from '../metrics.ts'
import { DependencySets } from './sets.ts'
import { SharedSets } from './shared-sets.ts'

const tidyEveryMs = 3_600_000

/** The packages of this runner: what installs them, where they are, and what children are shown of them. */
export function runnerDependencies(
  config: RunnerConfig,
  { isolation, pythonVersion }: ChildLauncher,
  pool: ChildPool,
  { neighbours, logger, metrics: registry }: PartContext,
) {
  const { children, dependencies } = config
  const { python, tmpDir } = children
  const installer = new Installer({ config: dependencies, python, tmpDir, isolation: config.isolation, logger })
  const platform = platformName(thisMachine())
  const runtimes = {
    JAVASCRIPT: `node${process.versions.modules}-${platform}`,
    PYTHON: `python${pythonVersion.split('.').slice(0, 2).join('.')}-${platform}`,
  }
  const shared = new SharedSets(neighbours)
  const metrics = setMetrics(registry)
  const isUsed = (key: string) => pool.usesPackages(key)
  const sets = new DependencySets({ ...dependencies, installer, shared, runtimes, isUsed, metrics, logger })
  const tidy = () => sets.tidy().catch((error: unknown) => logger.warn({ err: error }, 'old packages are not removed'))
  let timer: NodeJS.Timeout | undefined

  return {
    sets,
    removeSets(keys: readonly string[]) {
      sets.remove(keys).catch((error: unknown) => logger.warn({ err: error }, 'sets of packages are not removed'))
    },
    packagesOf({ language, dependencies: set, isInstall }: RunSpec) {
      if (set === undefined || isInstall) return undefined
      const path = sets.pathOf(language, set)
      return { shown: { key: set.key, path }, found: isolation.level === 'namespaces' ? packagesPath : path }
    },
    async start() {
      await sets.claim()
      await tidy()
      timer = setInterval(() => void tidy(), tidyEveryMs).unref()
    },
    async stop() {
      clearInterval(timer)
      await installer.close()
    },
  }
}

/** What of a machine decides which builds of a package it can use. */
interface Machine {
  platform: string
  architecture: string
  /** Absent where it is another C library. */
  glibcVersion: string | undefined
}

/** Platform, architecture and C library of this process. */
export function thisMachine(): Machine {
  const { platform, arch: architecture } = process
  // Looking up names of the network would only take time; the types of Node do not know the switch.
  const report = Object.assign(process.report, { excludeNetwork: true })
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } }
  return { platform, architecture, glibcVersion: header.glibcVersionRuntime }
}

/** Names platform and C library, such as `linux-x64-glibc2.36`: what is built for one may not start on another. */
export function platformName({ platform, architecture, glibcVersion }: Machine): string {
  const name = `${platform}-${architecture}`
  if (platform !== 'linux') return name
  return glibcVersion === undefined ? `${name}-musl` : `${name}-glibc${glibcVersion}`
}
