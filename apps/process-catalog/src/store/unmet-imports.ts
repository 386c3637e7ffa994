import { isBuiltin } from 'node:module'
import type { UnmetImportSchema } from '@automation/contract/catalog/v1/resolve'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { limits } from '../fields/limits.ts'
import { pythonLibrary } from '../reading/python-library.ts'

/** What the statement says of imports that lead to no module. */
export interface UnmetRows {
  language: string
  /** `versions`: null where there is no module of the name. */
  unmet: { reference: string; versions: string[] | null }[] | null
  /** Of all modules that the run could have; none where nothing is unmet. */
  moduleNames: string[] | null
}

/**
 * Imports that lead nowhere, for whoever is to be told: those of which nothing is known, such as packages, are left out.
 * Only the first few are compared with the names there are: every run of the team may ask for this anew, on the event loop
 * that serves all.
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
    return near.length === 0 && versions === null
      ? []
      : [{ name, tag, near, versions: versions ?? [], hasNoVersions: versions?.length === 0 }]
  })
}

/** Whether the language itself has it, so that no module was meant. */
function isOfLanguage(language: string, name: string): boolean {
  return language === 'PYTHON' ? pythonLibrary.has(name.split('.', 1)[0]!) : isBuiltin(name)
}

const mostNames = 3
// Of any length, one team's names would take the time of all others.
const longestName = 40

/**
 * Finds, of these names, those that were perhaps meant by one that is not among them: the nearest first, whatever their case
 * and dashes.
 */
function nearNames(names: string[]): (name: string) => string[] {
  const known = names.filter(({ length }) => length <= longestName).map((name) => ({ name, known: plain(name) }))
  return (name) => {
    if (name.length > longestName) return []
    const wanted = plain(name)
    const most = wanted.length < 5 ? 1 : 2
    return known
      .filter((each) => each.name !== name)
      .map((each) => ({ name: each.name, far: distance(wanted, each.known, most) }))
      .filter(({ far }) => far <= most)
      .toSorted((a, b) => a.far - b.far)
      .slice(0, mostNames)
      .map((each) => each.name)
  }
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[-_.]/g, '')

/**
 * How many letters from `atA` and `atB` on are to be added, left out, changed, or swapped with the next; infinite where more
 * than `most`.
 */
function distance(a: string, b: string, most: number, atA = 0, atB = 0): number {
  if (Math.abs(a.length - atA - (b.length - atB)) > most) return Infinity
  let [i, j] = [atA, atB]
  while (i < a.length && a.charCodeAt(i) === b.charCodeAt(j)) {
    i += 1
    j += 1
  }
  if (i === a.length || j === b.length) return a.length - i + (b.length - j)
  if (most === 0) return Infinity
  const isSwapped = a.charCodeAt(i) === b.charCodeAt(j + 1) && a.charCodeAt(i + 1) === b.charCodeAt(j)
  const changed = distance(a, b, most - 1, i + 1, j + 1)
  const leftOut = distance(a, b, most - 1, i + 1, j)
  const added = distance(a, b, most - 1, i, j + 1)
  return 1 + Math.min(changed, leftOut, added, isSwapped ? distance(a, b, most - 1, i + 2, j + 2) : Infinity)
}
