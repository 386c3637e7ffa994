import type { LanguageName } from '../fields/language.ts'

const longest = 214
const npmName = /^(?:@[a-z0-9][a-z0-9._~-]*\/)?[A-Za-z0-9][A-Za-z0-9._~-]*$/
// PEP 508, with extras.
const pypiName =
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9][A-Za-z0-9._-]*(?:,[A-Za-z0-9][A-Za-z0-9._-]*)*\])?$/
// What would be a folder of the installer's own, or an option.
const reserved = new Set(['node_modules', 'favicon.ico'])

/** Why a text names no package of the language, in words; undefined where it may name one. */
export function nameFault(language: LanguageName, name: string): string | undefined {
  if (name.length > longest) return `must have at most ${longest} characters`
  const form = language === 'PYTHON' ? pypiName : npmName
  if (!form.test(name) || name.startsWith('-') || reserved.has(name.toLowerCase()))
    return `must be the name of ${language === 'PYTHON' ? 'a PyPI' : 'an npm'} package`
  return undefined
}

/** By which two names of one package are equal: PyPI takes case, `-`, `_` and `.` for the same, and extras for none. */
export function canonicalName(language: LanguageName, name: string): string {
  if (language !== 'PYTHON') return name
  const [project = ''] = name.split('[', 1)
  return project.replaceAll(/[-_.]+/g, '-').toLowerCase()
}
