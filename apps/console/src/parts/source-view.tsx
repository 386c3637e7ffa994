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
            <code>{text === '' ? ' ' : piecesOf(text)}</code>
          </div>
        )
      })}
    </ScrollRegion>
  )
}

// What is not seen, or moves what follows it, but tabs and what joins emoji; and what is written from right to left.
const apart = /([[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\t\u200c\u200d]])|([\p{Script=Hebrew}\p{Script=Arabic}]+)/v

/** So that a line reads in the order in which the language takes it, and hides nothing. */
function piecesOf(text: string) {
  return text.split(apart).map((piece, at) => {
    if (!piece || at % 3 === 0) return piece
    if (at % 3 === 2) return <bdi key={at}>{piece}</bdi>
    const code = piece.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    return (
      <span
        key={at}
        role="img"
        aria-label={`U+${code}`}
        title={`Control character U+${code}`}
        className={styles.unseen}
      >
        •
      </span>
    )
  })
}
