import type { LanguageName } from '../fields/language.ts'
import { Findings } from './findings.ts'
import { readJavascript } from './javascript.ts'
import { readPython } from './python.ts'
import type { Reading } from './reading.ts'

/**
 * Reads a source as its language does, at length: in a thread. Of one that is no JavaScript only the comments before its
 * fault count; Python is taken by its tokens, whatever they make. Throws where a source is nested too deeply.
 */
export function readSource(language: LanguageName, source: string): Reading {
  const findings = new Findings(language)
  if (language !== 'PYTHON') return findings.reading(readJavascript(source, findings))
  readPython(source, findings)
  return findings.reading()
}
