import { CopyButton } from './copy-button.tsx'
import styles from './code-block.module.css'

/** Text to be copied, such as a command. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    // It may scroll, so it can be reached by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={styles.code} role="region" aria-label={label} tabIndex={0}>
      <CopyButton text={text} what={`the ${label}`} isNamed />
      <pre>{text}</pre>
    </div>
  )
}
