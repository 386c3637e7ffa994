import styles from './tags.module.css'

/** Words that somebody has put on a thing. */
export function Tags({ of, label = 'Tags' }: { of: readonly string[]; label?: string }) {
  if (of.length === 0) return null
  return (
    <ul aria-label={label} className={styles.tags}>
      {of.map((tag) => (
        <li key={tag}>{tag}</li>
      ))}
    </ul>
  )
}
