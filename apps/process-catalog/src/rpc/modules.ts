import type { ModuleService } from '@automation/contract/catalog/v1/module'
import { type Handlers, windowOf } from '@automation/rpc'
import { teamOf } from '../caller.ts'
import type { Catalog } from '../catalog.ts'
import { languageName } from '../language.ts'
import { limits } from '../limits.ts'
import { moduleName } from '../module-rules.ts'
import { readChange } from '../source-reading.ts'
import { createModule, deleteModule, getModule, listModules, updateModule } from '../store/modules.ts'
import { text } from '../text.ts'
import { authorOf } from './author.ts'

/** Modules. */
export function moduleHandlers(catalog: Catalog): Handlers<typeof ModuleService> {
  const { store, checks } = catalog
  return {
    async createModule(request, context) {
      const author = authorOf(context)
      const language = languageName(request.language)
      const module = {
        name: moduleName(request.name),
        language,
        sourceCode: text('/sourceCode', request.sourceCode, limits.sourceCode),
      }
      const { imports } = await checks.read(language, module.sourceCode)
      return createModule(store, author, { ...module, imports })
    },

    getModule({ id }, context) {
      return getModule(store, teamOf(context), id)
    },

    listModules({ page }, context) {
      return listModules(store, teamOf(context), windowOf(page))
    },

    async updateModule({ id, name, sourceCode }, context) {
      const author = authorOf(context)
      const change = {
        name: name === undefined ? undefined : moduleName(name),
        sourceCode: sourceCode === undefined ? undefined : text('/sourceCode', sourceCode, limits.sourceCode),
      }
      const read = await readChange(catalog, author.team, { process: '', module: id }, change.sourceCode)
      return updateModule(store, author, id, { ...change, imports: read?.reading.imports })
    },

    async deleteModule({ id }, context) {
      await deleteModule(store, authorOf(context), id)
      return {}
    },
  }
}
