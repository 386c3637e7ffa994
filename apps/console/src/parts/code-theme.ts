import { bidiIsolates, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorView, highlightSpecialChars } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const look = EditorView.theme({
  '&': { fontSize: '13px', color: 'var(--text)', backgroundColor: 'var(--surface)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground, ::selection': {
    backgroundColor: 'light-dark(#c9d8fb, #2f4376)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'light-dark(#2f5bd70d, #8aabff14)' },
  '.cm-gutters': { color: 'var(--text-soft)', backgroundColor: 'var(--surface)', borderRight: '1px solid var(--line)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: '1px solid var(--line-strong)' },
  '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--sunken)' },
  '.cm-panels input, .cm-panels button': { fontFamily: 'var(--font)' },
  '.cm-textfield': { color: 'var(--text)', backgroundColor: 'var(--surface)', borderColor: 'var(--line-strong)' },
  '.cm-button': { color: 'var(--text)', backgroundColor: 'var(--surface)', backgroundImage: 'none' },
  '.cm-searchMatch': { backgroundColor: 'light-dark(#ffe08a, #6b5300)' },
  '.cm-tooltip': {
    color: 'var(--text)',
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--on-accent)', backgroundColor: 'var(--accent-fill)' },
  '.cm-selectionMatch': { backgroundColor: 'light-dark(#d9f0df, #234431)' },
  '.cm-foldPlaceholder': {
    color: 'var(--text-soft)',
    backgroundColor: 'var(--sunken)',
    borderColor: 'var(--line)',
  },
  // The library has these of differences for light themes or dark ones; here one theme is both.
  '.cm-collapsedLines': { color: 'var(--text-soft) !important', background: 'var(--sunken) !important' },
  '.cm-deletedChunk .cm-deletedText': { background: 'var(--bad-soft) !important' },
  '.cm-specialChar': { color: 'var(--bad)' },
  '.cm-marked': { backgroundColor: 'var(--bad-soft)' },
})

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.moduleKeyword, tags.operatorKeyword], color: 'light-dark(#8a1f9c, #d79bf0)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'light-dark(#1a6f3c, #7fd6a1)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'light-dark(#8a4b00, #f0b46b)' },
  { tag: tags.comment, color: 'var(--text-soft)', fontStyle: 'italic' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'light-dark(#1d5fae, #8ec5ff)' },
  { tag: [tags.propertyName, tags.attributeName], color: 'light-dark(#0f6674, #77d3e0)' },
  { tag: [tags.className, tags.typeName, tags.definition(tags.typeName)], color: 'light-dark(#7a5600, #e8cd74)' },
  { tag: tags.invalid, color: 'var(--bad)' },
])

/**
 * The colours and the font of code, in both themes. Text from right to left turns nothing around it, and what can't be seen,
 * such as a character that turns what follows, has a mark.
 */
export const codeTheme = [look, syntaxHighlighting(colors), bidiIsolates(), highlightSpecialChars()]

/** The content policy takes only styles that carry the page's nonce. */
export const styleNonce = () =>
  EditorView.cspNonce.of(document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '')
