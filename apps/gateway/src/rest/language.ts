import { Language } from '@automation/contract/common/v1/language'

const NAMES: Record<Language, string | undefined> = {
  [Language.UNSPECIFIED]: undefined,
  [Language.JAVASCRIPT]: 'JAVASCRIPT',
  [Language.PYTHON]: 'PYTHON',
}

/** The name of a language; undefined where there is none. */
export function presentLanguage(language: Language): string | undefined {
  return NAMES[language]
}

/** The language of a name. */
export function languageFrom(name: 'JAVASCRIPT' | 'PYTHON'): Language {
  return Language[name]
}
