import type { SourceCheck } from '../../../api/queries/editing.ts'
import { icons } from '../../../parts/icons.tsx'
import layout from '../../../parts/layout.module.css'
import { packageOf } from '../../../rules/package-of.ts'
import styles from './edit.module.css'

interface Props {
  language: 'JAVASCRIPT' | 'PYTHON'
  /** Packages that the process has for itself, which a check of a source alone does not know. */
  own: Readonly<Record<string, string>>
  check: SourceCheck | undefined
  onLine: (line: number) => void
}

/** Where the syntax is broken, and which imports a run would not find. */
export function CheckNotes({ language, own, check, onLine }: Props) {
  const missing =
    check?.imports.filter(({ name, kind }) => kind === 'missing' && !(packageOf(name, language) in own)) ?? []
  const faults = check?.faults ?? []
  return (
    <div role="status" className={styles.notes}>
      {faults.map(({ line, column, message }) => (
        <p key={`${line}:${column}:${message}`} className={styles.bad}>
          <icons.cross />
          <button type="button" className={layout.linkish} onClick={() => onLine(line)}>
            Line {line}
          </button>
          {message}
        </p>
      ))}
      {missing.map(({ name }) => (
        <p key={name} className={styles.warn}>
          <icons.warning />
          <span>
            <code>{name}</code> is neither a package of the team nor a module
          </span>
        </p>
      ))}
    </div>
  )
}
