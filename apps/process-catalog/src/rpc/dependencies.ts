import { InstallationStatus, type DependencyService } from '@automation/contract/catalog/v1/dependency'
import { windowOf } from '@automation/database'
import { asService, memberIn, type Handlers } from '@automation/rpc'
import type { Catalog } from '../catalog.ts'
import { checkManifest } from '../dependencies/manifest.ts'
import { isSetKept } from '../dependencies/installs.ts'
import { languageName } from '../fields/language.ts'
import { askForInstall, discardStaged, getManifest, stageDependencies } from '../store/dependencies.ts'
import { getInstall, installExecution, listInstalls, notKept, rollBack } from '../store/install-records.ts'

/** Packages of teams and processes, staged and installed. */
export function dependencyHandlers({
  store,
  config,
  installs,
  packageSets,
}: Catalog): Handlers<typeof DependencyService> {
  return {
    getManifest: ({ language }, context) => getManifest(store, memberIn(context).team, languageName(language)),

    async stageDependencies({ language, dependencies }, context) {
      const name = languageName(language)
      checkManifest('/dependencies', name, dependencies, config.dependencies.allowGit)
      return stageDependencies(store, memberIn(context), name, dependencies)
    },

    async installDependencies({ language }, context) {
      await askForInstall(store, memberIn(context), languageName(language))
      return {}
    },

    discardDependencies: ({ language }, context) => discardStaged(store, memberIn(context), languageName(language)),

    listInstalls: ({ language, page }, context) =>
      listInstalls(store, memberIn(context).team, languageName(language), windowOf(page)),

    getInstall: ({ language, id }, context) => getInstall(store, memberIn(context).team, languageName(language), id),

    async listInstallLogs({ language, id, page }, context) {
      const { team } = memberIn(context)
      const executionId = await installExecution(store, team, languageName(language), id)
      // One that waits for its turn, and one of no packages, has said nothing.
      if (executionId === undefined) return { entries: [], page: {} }
      return installs.listInstallLogs(
        { executionId, page },
        { ...context, principal: asService('process-catalog', team) },
      )
    },

    async rollBackInstall({ language, id }, context) {
      const author = memberIn(context)
      const name = languageName(language)
      const { requested = {}, status } = await getInstall(store, author.team, name, id)
      const isSet = status === InstallationStatus.INSTALLED && Object.keys(requested).length > 0
      const call = { ...context, principal: asService('process-catalog', author.team) }
      if (isSet && !(await isSetKept(packageSets, id, call))) throw notKept()
      return rollBack(store, author, name, id)
    },
  }
}
