import { isBuiltin } from 'node:module'
import type { UnmetImportSchema } from '@automation/contract/catalog/v1/resolve'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { limits } from '../limits.ts'
import { nearNames } from '../near-names.ts'
import { pythonLibrary } from '../reading/python-library.ts'

/** What the statement says of imports that lead to no module. */
export interface UnmetRows {
  language: string
  unmet: { reference: string; versions: string[] | null }[] | null
  /** Of all modules that the run could have; none where nothing is unmet. */
  moduleNames: string[] | null
}

/**
 * Imports that lead nowhere, for whoever is to be told: those of which nothing is known, such as packages, are left out. Only the first
 * few are compared with the names there are: every run of the team may ask for this anew, on the event loop that serves all.
 */
export function unmetImports({
  language,
  unmet,
  moduleNames,
}: UnmetRows): MessageInitShape<typeof UnmetImportSchema>[] {
  const nearTo = nearNames(moduleNames ?? [])
  let compared = 0
  return (unmet ?? []).flatMap(({ reference, versions }) => {
    const [name = '', tag = ''] = reference.split(' ')
    const isCompared = !isOfLanguage(language, name) && (compared += 1) <= limits.comparedImports
    const near = isCompared ? nearTo(name) : []
    return near.length === 0 && versions === null ? [] : [{ name, tag, near, versions: versions ?? [] }]
  })
}

/** Whether the language itself has it, so that no module was meant. */
function isOfLanguage(language: string, name: string): boolean {
  return language === 'PYTHON' ? pythonLibrary.has(name.split('.', 1)[0]!) : isBuiltin(name)
}
