import { lineNumbers, EditorView } from '@codemirror/view'
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { codeTheme, styleNonce } from './code-theme.ts'
import { languageSupport } from './code-languages.ts'
import type { DiffProps } from './diff.tsx'
import styles from './diff.module.css'

const narrow = window.matchMedia('(max-width: 900px)')
const whenWidth = (listener: () => void) => {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

const collapseUnchanged = { margin: 3, minSize: 6 }

export default function DiffView({ before, after, names: [nameBefore, nameAfter], language }: DiffProps) {
  const place = useRef<HTMLDivElement>(null)
  const isNarrow = useSyncExternalStore(whenWidth, () => narrow.matches)

  useEffect(() => {
    const parent = place.current
    if (parent === null) return undefined
    const side = (name: string): Extension => [
      styleNonce(),
      lineNumbers(),
      codeTheme,
      languageSupport(language),
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': name, 'aria-readonly': 'true' }),
    ]
    if (!isNarrow) {
      const a = { doc: before, extensions: side(nameBefore) }
      const b = { doc: after, extensions: side(nameAfter) }
      const view = new MergeView({ a, b, parent, gutter: true, collapseUnchanged })
      return () => view.destroy()
    }
    const merged = unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged })
    const view = new EditorView({ doc: after, extensions: [side(nameAfter), merged], parent })
    return () => view.destroy()
  }, [before, after, nameBefore, nameAfter, language, isNarrow])

  if (before === after) return <p className={styles.same}>The code is the same.</p>
  return (
    <div className={styles.diff}>
      <div className={styles.names}>
        <strong>{nameBefore}</strong>
        <strong>{nameAfter}</strong>
      </div>
      <div ref={place} className={styles.sides} />
    </div>
  )
}
