import { ScrollRegion } from './scroll-region.tsx'
import styles from './source-view.module.css'

interface Props {
  label: string
  source: string
  /** The number of the first line. */
  first?: number
  /** The line with the fault. */
  line?: number
}

/** Some lines of a source to read, with their numbers. */
export function SourceView({ label, source, first = 1, line }: Props) {
  return (
    <ScrollRegion label={label} className={styles.source}>
      {source.split('\n').map((text, at) => {
        const number = first + at
        const isMeant = number === line
        return (
          <div key={number} className={`${styles.line} ${isMeant ? styles.bad : ''}`}>
            <span className={styles.number}>
              {isMeant && <span className="visually-hidden">Here: </span>}
              {number}
            </span>
            <code>{text || ' '}</code>
          </div>
        )
      })}
    </ScrollRegion>
  )
}
