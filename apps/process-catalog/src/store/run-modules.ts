import type { RunSpecSchema } from '@automation/contract/catalog/v1/resolve'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { limits } from '../limits.ts'

type RunSpecMessage = MessageInitShape<typeof RunSpecSchema>

/** What the statement says of modules. */
export interface ModuleRows {
  /** Absent importer: the process. */
  links: { importer: string | null; reference: string; id: string }[] | null
  modulesCount: number
  /** None where they are too many or too large. */
  modules: { id: string; name: string; tag: string | null; team: string; source: string }[] | null
}

/** The modules of a run as its specification has them. */
export function runModules(
  { links, modulesCount, modules }: ModuleRows,
  team: string,
): Pick<RunSpecMessage, 'imports' | 'modules' | 'modulesFault'> {
  if (modulesCount > 0 && modules === null) return { modulesFault: tooMuch(modulesCount) }
  const rows = modules ?? []
  const places = new Map(rows.map(({ id }, place) => [id, place]))
  const byImporter = Map.groupBy(links ?? [], ({ importer }) => importer)
  const importsOf = (importer: string | null) =>
    (byImporter.get(importer) ?? []).map(({ reference, id }) => {
      const [name = '', tag = ''] = reference.split(' ')
      return { name, tag, module: places.get(id)! }
    })
  return {
    imports: importsOf(null),
    modules: rows.map(({ id, name, tag, team: owner, source }) => ({
      name,
      tag: tag ?? undefined,
      team: owner === team ? undefined : owner,
      sourceCode: source,
      imports: importsOf(id),
    })),
  }
}

function tooMuch(count: number): string {
  return count > limits.runModules
    ? `The process needs ${count} modules, and a run may have ${limits.runModules}`
    : `The sources of the modules that the process needs are larger than ${limits.runModulesBytes} bytes together`
}
