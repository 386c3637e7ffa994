import { lazy, Suspense } from 'react'
import type { CodeLanguage } from '../rules/languages.ts'
import styles from './code-editor.module.css'

export interface CodeFault {
  message: string
  /** From 1. */
  line: number
  /** From 1. */
  column?: number
}

export interface CodeEditorProps {
  /** What the code is, for screen readers. */
  label: string
  language: CodeLanguage
  value: string
  /** Without it the code can be read only. */
  onChange?: (value: string) => void
  /** It can be read only for now, though it can be changed at other times. */
  readOnly?: boolean
  /** Ctrl+Enter in it; without one the key is the page's. */
  onRun?: () => void
  /** Ctrl+S in it; without one the key is the page's. */
  onSave?: () => void
  faults?: readonly CodeFault[]
  /** The line that is shown and marked, from 1. */
  line?: number
  /** Heights in pixels between which it grows with the code. `fill`: it takes the height of what it stands in. */
  height?: { min: number; max: number } | 'fill'
}

/** Where a page says nothing else. */
export const CODE_HEIGHT = { min: 120, max: 640 }

const View = lazy(() => import('./code-editor-view.tsx'))

/** An editor of code, loaded when it is first needed. Esc, then Tab leaves it. */
export function CodeEditor(props: CodeEditorProps) {
  return (
    <Suspense fallback={<Waiting {...props} />}>
      <View {...props} />
    </Suspense>
  )
}

/** The code as it will be, in the height that the editor takes. */
function Waiting({ value, height = CODE_HEIGHT }: CodeEditorProps) {
  const limits = height === 'fill' ? undefined : { minHeight: height.min, maxHeight: height.max }
  return (
    <pre className={`${styles.waiting} ${height === 'fill' ? styles.fill : ''}`} style={limits}>
      {value}
    </pre>
  )
}
