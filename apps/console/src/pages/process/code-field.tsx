import { CodeEditor, type CodeEditorProps } from '../../parts/code-editor.tsx'
import field from '../../parts/field.module.css'
import styles from './tab.module.css'

interface Props extends CodeEditorProps {
  hint?: string
  /** What the service or the page finds wrong with the text. */
  fault?: string
}

/** An editor with its label, and what is to be said of it. */
export function CodeField({ hint, fault, ...editor }: Props) {
  return (
    <div className={field.field}>
      <span aria-hidden="true" className={styles.label}>
        {editor.label}
      </span>
      <CodeEditor {...editor} />
      {hint && <span className={field.hint}>{hint}</span>}
      {fault && (
        <span role="alert" className={field.fault}>
          {fault}
        </span>
      )}
    </div>
  )
}
