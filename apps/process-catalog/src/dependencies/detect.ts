import type { LanguageName } from '../language.ts'
import { javascriptImports } from './javascript-imports.ts'
import { packageOfImport } from './import-names.ts'
import { missingFrom, type Dependencies } from './manifest.ts'
import { nameFault } from './package-name.ts'
import { pythonImports } from './python-imports.ts'
import { specifierFault } from './specifier.ts'

/** What a source says in its imports and in comments. */
export interface Mentioned {
  /** Names by which it imports packages. */
  imports: string[]
  comments: string[]
}

export interface DetectionOptions {
  allowGit: boolean
  /** Import names that differ from the package's, beside the known ones: `yaml` to `PyYAML`. */
  importNames: ReadonlyMap<string, string>
  /** Names that imports find without a package. */
  without: ReadonlySet<string>
}

const wish = /^[\s*!]*@add-package[ \t]+(\S+)\s*$/

/**
 * The packages that a source needs, as it says by literal imports and by comments such as `@add-package name@range`.
 * What names no package, or says no version, is left out. Pure.
 */
export function detectDependencies(language: LanguageName, source: string, options: DetectionOptions): Dependencies {
  const { imports, comments } = language === 'PYTHON' ? pythonImports(source) : javascriptImports(source)
  const wished = new Map<string, string>()
  for (const comment of comments) {
    for (const line of comment.split(/\r?\n/)) {
      const text = wish.exec(line)?.[1]
      const [name, specifier] = text === undefined ? [] : wishOf(text)
      if (name !== undefined && isGood(language, name, specifier!, options.allowGit)) wished.set(name, specifier!)
    }
  }
  const imported = new Map<string, string>()
  for (const name of imports) {
    if (options.without.has(name)) continue
    const found = options.importNames.get(name) ?? packageOfImport(language, name)
    if (found !== undefined && isGood(language, found, '*', false)) imported.set(found, '*')
  }
  const explicit = Object.fromEntries(wished)
  return { ...missingFrom(language, explicit, Object.fromEntries(imported)), ...explicit }
}

/** `name@range`, `name==version`, `name=version`, `name>=version` or a name alone. */
function wishOf(text: string): [string, string] {
  const at = text.indexOf('@', 1)
  const sign = text.search(/[=<>~!]/)
  if (sign > 0 && (at < 0 || sign < at))
    return [
      text.slice(0, sign),
      text
        .slice(sign)
        .replace(/^=(?![=])/, '')
        .replace(/^===?(?=v?\d)/, '=='),
    ]
  return at > 0 ? [text.slice(0, at), text.slice(at + 1)] : [text, '*']
}

function isGood(language: LanguageName, name: string, specifier: string, allowGit: boolean): boolean {
  return nameFault(language, name) === undefined && specifierFault(language, specifier, allowGit) === undefined
}
