import styles from './progress.module.css'

interface Props {
  /** What goes on, for screen readers. */
  label: string
  value: number
  max: number
  /** What is said beside the bar; the share in percent where absent. */
  note?: string
  tone?: 'good' | 'warn' | 'bad'
}

/** A bar of how much is done or in use, with the figure beside it. */
export function Progress({ label, value, max, note, tone }: Props) {
  const share = max > 0 ? Math.min(value / max, 1) : 0
  return (
    <span className={styles.progress}>
      <progress aria-label={label} value={share} max={1} className={`${styles.bar} ${tone ? styles[tone] : ''}`} />
      <span className={styles.note}>{note ?? `${Math.floor(share * 100)} %`}</span>
    </span>
  )
}
