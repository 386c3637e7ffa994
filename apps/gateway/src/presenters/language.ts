import { Language } from '@automation/contract/common/v1/language'

const NAMES: Record<Language, string | undefined> = {
  [Language.UNSPECIFIED]: undefined,
  [Language.JAVASCRIPT]: 'JAVASCRIPT',
  [Language.PYTHON]: 'PYTHON',
}

export function presentLanguage(language: Language): string | undefined {
  return NAMES[language]
}

export function languageFrom(name: 'JAVASCRIPT' | 'PYTHON'): Language {
  return Language[name]
}
