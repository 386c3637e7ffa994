import type { Schemas } from '../api/client.ts'

/** What editors colour. */
export type CodeLanguage = 'javascript' | 'python' | 'json'
export type ProgrammingLanguage = Schemas['Process']['programmingLanguage']

export const codeLanguageOf = (language: ProgrammingLanguage): CodeLanguage =>
  language === 'PYTHON' ? 'python' : 'javascript'

export const languageNames: Record<ProgrammingLanguage, string> = { JAVASCRIPT: 'JavaScript', PYTHON: 'Python' }
