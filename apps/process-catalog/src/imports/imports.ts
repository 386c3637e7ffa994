import type { LanguageName } from '../language.ts'
import { isModuleName } from '../module-rules.ts'
import { isTag } from '../tag.ts'
import { isUuid } from '../identifier.ts'
import { javascriptImports } from './javascript.ts'
import { pythonImports } from './python.ts'

/** What a source asks for by a literal name; `tag` where it asks for a version. */
export interface LiteralImport {
  name: string
  tag?: string
}

const maxImports = 1000

/** Whether a source can import anything at all; most can't, and need no reading. */
export function mayImport(source: string): boolean {
  return /\b(?:import|require|import_module)\b/.test(source)
}

/**
 * What a source imports that could be a module: `name`, or `name tag`, each once, at most 1000. Nothing for a source that
 * its language can't read.
 */
export function importsOf(language: LanguageName, source: string): string[] {
  const found = language === 'PYTHON' ? pythonImports(source) : javascriptImports(source)
  const references = new Set<string>()
  for (const { name, tag = '' } of found) {
    if (isModuleName(name) && (tag === '' || isTag(tag) || isUuid(tag)))
      references.add(tag === '' ? name : `${name} ${tag}`)
    if (references.size === maxImports) break
  }
  return [...references]
}
