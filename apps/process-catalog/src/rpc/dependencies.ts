import type { DependencyService } from '@automation/contract/catalog/v1/dependency'
import { memberIn, type Handlers } from '@automation/rpc'
import type { Catalog } from '../catalog.ts'
import { checkManifest } from '../dependencies/manifest.ts'
import { languageName } from '../language.ts'
import { askForInstall, discardStaged, getManifest, stageDependencies } from '../store/dependencies.ts'

/** Packages of teams and processes, staged and installed. */
export function dependencyHandlers({ store, config }: Catalog): Handlers<typeof DependencyService> {
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
  }
}
