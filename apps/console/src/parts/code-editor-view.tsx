import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language'
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import {
  Annotation,
  Compartment,
  EditorState,
  Prec,
  StateEffect,
  StateField,
  type Extension,
  type Transaction,
} from '@codemirror/state'
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  type DecorationSet,
} from '@codemirror/view'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { CODE_HEIGHT, type CodeEditorProps, type CodeFault } from './code-editor.tsx'
import { languageSupport } from './code-languages.ts'
import { codeTheme, styleNonce } from './code-theme.ts'
import styles from './code-editor.module.css'

/** Keys that the browser and the editor must not take: for who uses the editor, or else for the page's listener. */
function pageKeys(act: (key: 'run' | 'save') => boolean): Extension {
  return Prec.highest(
    EditorView.domEventHandlers({
      keydown: (event) => {
        const isRun = event.key === 'Enter'
        if (!(event.ctrlKey || event.metaKey) || !(isRun || event.key === 's')) return false
        if (event.repeat || act(isRun ? 'run' : 'save')) event.stopPropagation()
        return true
      },
    }),
  )
}

/** Of changes that the text has from the page, which need not be told to it. */
const fromOutside = Annotation.define<boolean>()
const isFromOutside = (transaction: Transaction) => transaction.annotation(fromOutside) === true

const markLine = StateEffect.define<number | undefined>()
const markedLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (decorations, { effects, state, changes }) => {
    const mark = effects.find((effect) => effect.is(markLine))
    if (mark === undefined) return decorations.map(changes)
    if (mark.value === undefined) return Decoration.none
    const { from } = state.doc.line(Math.max(1, Math.min(mark.value, state.doc.lines)))
    return Decoration.set([Decoration.line({ class: 'cm-marked' }).range(from)])
  },
  provide: (field) => EditorView.decorations.from(field),
})

/** Chromium keeps the look of what is typed over by inline styles, which the content policy refuses; so the editor replaces it. */
const typedOver = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data }, view) => {
    const { from, to, empty } = view.state.selection.main
    if (inputType !== 'insertText' || data === null || empty || view.composing || view.state.readOnly) return false
    const insert = () =>
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
    const isHandled = view.state.facet(EditorView.inputHandler).some((handler) => handler(view, from, to, data, insert))
    if (!isHandled) view.dispatch(insert())
    return true
  },
})

const basics: Extension = [
  lineNumbers(),
  foldGutter(),
  highlightActiveLineGutter(),
  highlightActiveLine(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  autocompletion({ icons: false }),
  highlightSelectionMatches(),
  search({ top: true }),
  lintGutter(),
  markedLine,
  typedOver,
  keymap.of([
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...completionKeymap,
  ]),
]

export default function CodeEditorView(props: CodeEditorProps) {
  const { label, language, value, onChange, faults, line, height = CODE_HEIGHT } = props
  const place = useRef<HTMLDivElement>(null)
  const [view, setView] = useState<EditorView>()
  const [parts] = useState(() => ({ language: new Compartment(), mode: new Compartment() }))
  const isReadOnly = onChange === undefined || props.readOnly === true
  // JSON is a field among others, which Tab leaves.
  const isIndented = language !== 'json'
  const min = height === 'fill' ? undefined : height.min
  const max = height === 'fill' ? undefined : height.max

  const change = useEffectEvent((text: string) => onChange?.(text))
  const act = useEffectEvent((key: 'run' | 'save') => {
    const given = key === 'run' ? props.onRun : props.onSave
    given?.()
    return given !== undefined
  })
  const stateAtFirst = useEffectEvent(() =>
    EditorState.create({
      doc: value,
      extensions: [
        styleNonce(),
        pageKeys((key) => act(key)),
        basics,
        codeTheme,
        parts.language.of(languageSupport(language)),
        parts.mode.of(modeOf(isReadOnly, label, isIndented)),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.every(isFromOutside)) change(update.state.doc.toString())
        }),
      ],
    }),
  )

  useEffect(() => {
    if (place.current === null) return undefined
    const made = new EditorView({ state: stateAtFirst(), parent: place.current })
    setView(made)
    return () => made.destroy()
  }, [])

  useEffect(() => {
    view?.dispatch({ effects: parts.language.reconfigure(languageSupport(language)) })
  }, [view, parts, language])

  useEffect(() => {
    view?.dispatch({ effects: parts.mode.reconfigure([modeOf(isReadOnly, label, isIndented), sizeOf(min, max)]) })
  }, [view, parts, isReadOnly, label, isIndented, min, max])

  useEffect(() => {
    if (view === undefined || view.state.doc.toString() === value) return
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: value },
      annotations: fromOutside.of(true),
    })
  }, [view, value])

  useEffect(() => {
    if (view === undefined) return
    view.dispatch(
      setDiagnostics(
        view.state,
        (faults ?? []).map((fault) => diagnosticOf(view.state, fault)),
      ),
    )
  }, [view, faults])

  useEffect(() => {
    if (view === undefined) return
    view.dispatch({ effects: markLine.of(line) })
    if (line === undefined) return
    const { from } = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines)))
    view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) })
  }, [view, line])

  return <div ref={place} className={`${styles.editor} ${height === 'fill' ? styles.fill : ''}`} />
}

function modeOf(isReadOnly: boolean, label: string, isIndented: boolean): Extension {
  return [
    isIndented ? keymap.of([indentWithTab]) : [],
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({
      tabindex: '0',
      'aria-label': label,
      ...(isIndented && { 'aria-description': 'Esc, then Tab leaves it' }),
      ...(isReadOnly && { 'aria-readonly': 'true' }),
    }),
  ]
}

function sizeOf(min: number | undefined, max: number | undefined): Extension {
  if (min === undefined || max === undefined) return EditorView.theme({ '&': { height: '100%' } })
  return EditorView.theme({
    '.cm-scroller': { overflow: 'auto', maxHeight: `${max}px` },
    '.cm-content, .cm-gutter': { minHeight: `${min}px` },
  })
}

/** Where a fault is, from its column to the end of the word, or its whole line. */
function diagnosticOf(state: EditorState, { message, line, column }: CodeFault): Diagnostic {
  const { from, to } = state.doc.line(Math.max(1, Math.min(line, state.doc.lines)))
  if (column === undefined) return { from, to, severity: 'error', message }
  const at = Math.min(from + Math.max(0, column - 1), to)
  return { from: at, to: state.wordAt(at)?.to ?? at, severity: 'error', message }
}
