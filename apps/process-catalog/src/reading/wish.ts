import { nameFault } from '../dependencies/package-name.ts'
import { specifierFault } from '../dependencies/specifier.ts'
import type { LanguageName } from '../language.ts'

/** A package's name and a specifier of its version. */
export type Wish = [name: string, specifier: string]

/**
 * What `name@range`, `name==version`, `name=version`, `name>=version` or a name alone asks for; undefined where that is no
 * name of a package or no version.
 */
export function wishOf(language: LanguageName, text: string): Wish | undefined {
  const [name, specifier] = parts(text)
  if (nameFault(language, name) !== undefined || specifierFault(language, specifier, true) !== undefined)
    return undefined
  return [name, specifier]
}

function parts(text: string): Wish {
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
