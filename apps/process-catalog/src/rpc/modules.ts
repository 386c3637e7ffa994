import type { ModuleService } from '@automation/contract/catalog/v1/module'
import { readAll } from '@automation/errors/faults'
import { windowOf } from '@automation/database'
import { memberIn, type Handlers } from '@automation/rpc'
import type { Catalog } from '../catalog.ts'
import { languageName } from '../fields/language.ts'
import { limits } from '../fields/limits.ts'
import { moduleName } from '../fields/names.ts'
import { originText } from '../processes/origin.ts'
import { readChange, warningsOf } from '../reading/source-reading.ts'
import { createModule, deleteModule, getModule, listModules, updateModule } from '../store/modules.ts'
import { listModuleUsers } from '../store/in-use.ts'
import { text } from '../fields/text.ts'

/** Modules. */
export function moduleHandlers(catalog: Catalog): Handlers<typeof ModuleService> {
  const { store, checks } = catalog
  return {
    async createModule(request, context) {
      const author = memberIn(context)
      const language = languageName(request.language)
      const module = readAll({
        name: () => moduleName(request.name),
        sourceCode: () => text('/sourceCode', request.sourceCode, limits.sourceCodeCharacters),
        origin: () => originText(request.origin),
      })
      const reading = await checks.read(author.team, language, module.sourceCode)
      const made = await createModule(store, author, { ...module, language, imports: reading.imports })
      return { ...made, warnings: warningsOf(reading) }
    },

    getModule({ id }, context) {
      return getModule(store, memberIn(context).team, id)
    },

    listModules({ page }, context) {
      return listModules(store, memberIn(context).team, windowOf(page))
    },

    async updateModule({ id, name, sourceCode, ifMatch, origin }, context) {
      const author = memberIn(context)
      const change = readAll({
        name: () => (name === undefined ? undefined : moduleName(name)),
        sourceCode: () =>
          sourceCode === undefined ? undefined : text('/sourceCode', sourceCode, limits.sourceCodeCharacters),
        origin: () => originText(origin),
      })
      const read = await readChange(catalog, author.team, { process: '', module: id }, change.sourceCode)
      const changed = await updateModule(store, author, id, { ...change, imports: read?.reading.imports, ifMatch })
      return { ...changed, warnings: warningsOf(read?.reading) }
    },

    listModuleUsers({ id, page }, context) {
      return listModuleUsers(store, memberIn(context).team, id, windowOf(page))
    },

    async deleteModule({ id, ifMatch }, context) {
      await deleteModule(store, memberIn(context), id, ifMatch)
      return {}
    },
  }
}
