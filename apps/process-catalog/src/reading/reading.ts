import { nameFault } from '../dependencies/package-name.ts'
import { specifierFault } from '../dependencies/specifier.ts'
import type { LanguageName } from '../fields/language.ts'

/** What a source says of modules and packages by literal names; at most 1000 of each, each once. */
export interface Reading {
  /** What it imports that could be a module: `name`, or `name tag`. */
  readonly imports: string[]
  /** Names by which it imports what could be a package; for npm these are the packages' own. */
  readonly packages: string[]
  /** All that it imports as it is written there, builtins included. */
  readonly written: WrittenImport[]
  /** What its comments ask for with `@add-package`; the last of a name counts. */
  readonly requests: PackageRequest[]
  /** Where it is no program of its language, as far as that is known. */
  readonly fault?: SourceFault
  /** Whether it is a program could not be said. */
  readonly isUnchecked?: boolean
}

/** An import as a source has it. */
export interface WrittenImport {
  name: string
  /** It can mean nothing but a module, of this version where it is not empty. */
  moduleTag?: string
}

/** Where a source breaks its language's syntax; lines and columns count from 1. */
export interface SourceFault {
  message: string
  line: number
  column: number
}

/** A source with its reading. */
export interface ReadSource {
  source: string
  reading: Reading
}

/** Of a source that says nothing. */
export const emptyReading: Reading = { imports: [], packages: [], written: [], requests: [] }

/** Whether a source can say anything of modules or packages at all; most can't, and need no reading. */
export function mayMention(source: string): boolean {
  return /\b(?:import|require|import_module|importModule)\b|@add-package\b/.test(source)
}

/** A package's name and a specifier of its version. */
export type PackageRequest = [name: string, specifier: string]

/**
 * What `name@range`, `name==version`, `name=version`, `name>=version` or a name alone asks for; undefined where that is no
 * name of a package or no version.
 */
export function packageRequestOf(language: LanguageName, text: string): PackageRequest | undefined {
  const [name, specifier] = parts(text)
  if (nameFault(language, name) !== undefined || specifierFault(language, specifier, true) !== undefined)
    return undefined
  return [name, specifier]
}

function parts(text: string): PackageRequest {
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
