import { Language } from '@automation/contract/common/v1/language'

/** Languages that a runner runs, in order; the same array for the same languages. */
export type Languages = readonly Language[]

/** What nearly every runner runs. */
export const allLanguages: Languages = [Language.JAVASCRIPT, Language.PYTHON]

const known = new Map<string, Languages>([[allLanguages.join(), allLanguages]])

/** The languages that a runner says it runs; one that says none runs all. */
export function languagesOf(said: Language[]): Languages {
  const languages = allLanguages.filter((language) => said.length === 0 || said.includes(language))
  const name = languages.join()
  if (!known.has(name)) known.set(name, languages)
  return known.get(name)!
}

const names = new Map([
  [Language.JAVASCRIPT, 'JavaScript'],
  [Language.PYTHON, 'Python'],
])

/** As users know it. */
export function nameOf(language: Language): string {
  return names.get(language) ?? `language ${language}`
}

/** What a machine must have for a runner on it to run this language; undefined where each runner runs it. */
export function wantedFor(language: Language): string | undefined {
  return language === Language.PYTHON ? 'python3, 3.11 or later' : undefined
}
