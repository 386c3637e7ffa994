import { javascript, javascriptLanguage } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { python, pythonLanguage } from '@codemirror/lang-python'
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import type { Extension } from '@codemirror/state'
import type { CodeLanguage } from '../rules/languages.ts'
import { svcMembers } from '../rules/svc-members.ts'

/** What an editor knows of a language: its colours, its indentation, and what `svc` has. */
export function languageSupport(language: CodeLanguage): Extension {
  if (language === 'json') return json()
  if (language === 'python') return [python(), pythonLanguage.data.of({ autocomplete: completions('python') })]
  return [javascript(), javascriptLanguage.data.of({ autocomplete: completions('javascript') })]
}

function completions(language: 'javascript' | 'python') {
  return (context: CompletionContext): CompletionResult | null => {
    const path = context.matchBefore(/\bsvc(\.\w*)+$/)
    if (path !== null) {
      const names = path.text.split('.').slice(1)
      const last = names.pop() ?? ''
      const options = svcMembers(names, language).map(({ name, ...rest }): Completion => ({ label: name, ...rest }))
      return options.length === 0 ? null : { from: path.to - last.length, options, validFor: /^\w*$/ }
    }
    const word = context.matchBefore(/\bs\w*$/)
    if (word === null) return null
    return { from: word.from, options: [{ label: 'svc', type: 'variable', detail: 'the run and its team' }] }
  }
}
