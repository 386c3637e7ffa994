import { Fragment, useMemo } from 'react'
import { ScrollRegion } from '../../parts/scroll-region.tsx'
import { changedParts, lineDiff } from '../../rules/line-diff.ts'
import styles from './compare.module.css'

interface Props {
  /** What the texts are, for screen readers. */
  label: string
  before: string
  after: string
  /** Shows what is the same, too. */
  isWhole?: boolean
}

const signs = { same: ' ', removed: '−', added: '+' } as const
const words = { same: '', removed: 'Only in the first: ', added: 'Only in the second: ' } as const

/** How two texts differ, line by line. */
export function TextDiff({ label, before, after, isWhole = false }: Props) {
  const parts = useMemo(() => {
    const lines = lineDiff(before.split('\n'), after.split('\n'))
    return isWhole ? [lines] : changedParts(lines)
  }, [before, after, isWhole])
  return (
    <>
      {before === after && <p className={styles.soft}>The same in both{before === '' ? ': nothing' : ''}</p>}
      {before !== '' || after !== ''
        ? parts.length > 0 && (
            <ScrollRegion label={`${label}, what differs`} className={styles.diff}>
              {parts.map((part, at) => (
                <Fragment key={part[0]?.before ?? part[0]?.after ?? 0}>
                  {at > 0 && <div className={styles.between}>⋯</div>}
                  {part.map(({ kind, text, before: left, after: right }) => (
                    <div key={`${left ?? ''}-${right ?? ''}`} className={`${styles.line} ${styles[kind]}`}>
                      <span className={styles.number}>{left}</span>
                      <span className={styles.number}>{right}</span>
                      <span aria-hidden="true">{signs[kind]}</span>
                      <span className="visually-hidden">{words[kind]}</span>
                      <code>{text || ' '}</code>
                    </div>
                  ))}
                </Fragment>
              ))}
            </ScrollRegion>
          )
        : null}
    </>
  )
}
