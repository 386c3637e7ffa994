import { Fragment, memo, type ReactNode } from 'react'
import { clockToMsOf, inFull } from '../rules/local-times.ts'
import { piecesOf } from '../rules/log-links.ts'
import { splitBy } from '../rules/log-search.ts'
import type { LogLine } from '../rules/log-store.ts'
import type { LogViewProps } from './log-view.tsx'
import styles from './log-view.module.css'

interface Props {
  index: number
  number: number
  start: number
  digits: number
  content: LogLine
  wanted: string
  isCurrent: boolean
  isChosen: boolean
  measure: ((element: Element | null) => void) | undefined
  onChoose: ((line: number, isMore: boolean) => void) | undefined
  linkTo: LogViewProps['linkTo']
}

/** Beyond it a line is cut where it is not wrapped, as nobody sees its end. */
const LONGEST_DRAWN = 2000

/** One line of a log: its number, which is a link to it, its time, its level and its text. */
export const LogLineRow = memo(function LogLineRow({ content, ...props }: Props) {
  const { text, level, timestamp } = content
  const { number, isChosen, isCurrent, measure, onChoose } = props
  const drawn = measure === undefined && text.length > LONGEST_DRAWN ? `${text.slice(0, LONGEST_DRAWN)} …` : text
  return (
    <div
      ref={measure}
      data-index={props.index}
      className={`${styles.line} ${styles[level.toLowerCase()]} ${isChosen ? styles.chosen : ''} ${isCurrent ? styles.current : ''}`}
      style={{ transform: `translateY(${props.start}px)` }}
    >
      <a
        href={`#L${number}`}
        tabIndex={-1}
        aria-label={`Line ${number}`}
        className={styles.number}
        style={{ minWidth: `${props.digits + 1}ch` }}
        onClick={(event) => {
          if (onChoose === undefined || event.ctrlKey || event.metaKey) return
          event.preventDefault()
          onChoose(number, event.shiftKey)
        }}
      >
        {number}
      </a>
      <span className={styles.time} title={timestamp && inFull(timestamp)}>
        {timestamp && clockToMsOf(Date.parse(timestamp))}
      </span>
      <span className={styles.level}>{timestamp === '' ? '' : level}</span>
      <span className={styles.text}>{linked(drawn, props)}</span>
    </div>
  )
})

function linked(text: string, { linkTo, wanted }: Pick<Props, 'linkTo' | 'wanted'>): ReactNode {
  if (linkTo === undefined) return marked(text, wanted)
  return piecesOf(text).map(({ text: piece, file, line }, at) =>
    file === undefined || line === undefined ? (
      // Pieces have no other name than their place.
      <Fragment key={`${at}`}>{marked(piece, wanted)}</Fragment>
    ) : (
      <Fragment key={`${at}`}>{linkTo({ file, line, text: piece })}</Fragment>
    ),
  )
}

function marked(text: string, wanted: string): ReactNode {
  const pieces = splitBy(text, wanted)
  if (pieces.length === 1) return text
  return pieces.map((piece, at) => (at % 2 === 1 ? <mark key={`${at}`}>{piece}</mark> : piece))
}
