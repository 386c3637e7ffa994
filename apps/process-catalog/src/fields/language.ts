import { Language } from '@automation/contract/common/v1/language'
import { invalid } from '@automation/errors'

/** A language as it is stored. */
export type LanguageName = 'JAVASCRIPT' | 'PYTHON'

/** The language of a new process; unspecified is JavaScript. */
export function languageName(language: Language): LanguageName {
  if (language === Language.PYTHON) return 'PYTHON'
  if (language === Language.JAVASCRIPT || language === Language.UNSPECIFIED) return 'JAVASCRIPT'
  throw invalid('/programmingLanguage', 'must be JAVASCRIPT or PYTHON')
}

/** The language of a row. */
export function languageOf(name: string): Language {
  return name === 'PYTHON' ? Language.PYTHON : Language.JAVASCRIPT
}
