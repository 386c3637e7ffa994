import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useEffectEvent, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import type { LineRange } from '../rules/line-range.ts'
import { LOG_LEVELS, placeOf, shownLines, type LogLevel, type LogStore } from '../rules/log-store.ts'
import layout from './layout.module.css'
import { LogBar } from './log-bar.tsx'
import { LogLineRow } from './log-line-row.tsx'
import { ScrollRegion } from './scroll-region.tsx'
import { useKeys } from './use-keys.ts'
import { useLogSearch } from './use-log-search.ts'
import { useStoreSize } from './use-store-size.ts'
import styles from './log-view.module.css'

const ROW_HEIGHT = 20

export interface LogViewProps {
  store: LogStore
  /** More lines may come. */
  isGrowing?: boolean
  /** What a download of it is called. */
  fileName: string
  /** The chosen lines, which the address names. */
  range?: LineRange
  onRange?: (range: LineRange | undefined) => void
  /** A place in a source that the log names, as a link. */
  linkTo?: (place: { file: string; line: number; text: string }) => ReactNode
  /** In place of lines where there are none. */
  empty?: ReactNode
}

/** A log of any length: it draws only what is seen, finds texts in a worker, and names its lines by links. */
export function LogView({ store, isGrowing = false, fileName, range, onRange, linkTo, empty }: LogViewProps) {
  const size = useStoreSize(store)
  const [levels, setLevels] = useState<ReadonlySet<LogLevel>>(() => new Set(LOG_LEVELS))
  const [wanted, setWanted] = useState('')
  const [current, setCurrent] = useState(0)
  const [isFollowing, setFollowing] = useState(isGrowing && range === undefined)
  const [isWrapped, setWrapped] = useState(false)
  const scroller = useRef<HTMLDivElement>(null)
  const searchField = useRef<HTMLInputElement>(null)
  const matches = useLogSearch(store, wanted)
  // The size is what changes where the store grows.
  const shown = useMemo(() => (size >= 0 ? shownLines(store, levels) : undefined), [store, levels, size])
  const count = shown?.length ?? size

  // What it gives is used in this component alone, which is drawn anew with it.
  // oxlint-disable-next-line react/incompatible-library
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  })

  const showLine = (line: number) => rows.scrollToIndex(placeOf(shown, line), { align: 'center' })
  useEffect(() => {
    if (isFollowing && count > 0) rows.scrollToIndex(count - 1, { align: 'end' })
  }, [isFollowing, count, rows])

  const isThere = range !== undefined && size >= range.from
  const showRange = useEffectEvent(() => range && showLine(range.from - 1))
  useEffect(() => {
    if (isThere) showRange()
  }, [isThere])

  const goTo = (step: 1 | -1) => {
    if (matches.length === 0) return
    const next = (current + step + matches.length) % matches.length
    setCurrent(next)
    setFollowing(false)
    showLine(matches[next] ?? 0)
  }
  const firstMatch = matches[0]
  const showFirst = useEffectEvent((line: number) => showLine(line))
  useEffect(() => {
    setCurrent(0)
    if (firstMatch !== undefined) showFirst(firstMatch)
  }, [wanted, firstMatch])

  const toError = (step: 1 | -1) => {
    const from = Math.max(0, range === undefined ? -1 : range.from - 1)
    for (let line = from + step; line >= 0 && line < size; line += step) {
      if (store.line(line)?.level !== 'ERROR' || store.line(line)?.timestamp === '') continue
      setFollowing(false)
      onRange?.({ from: line + 1, to: line + 1 })
      return showLine(line)
    }
  }

  const choose = (line: number, isMore: boolean) => {
    const from = isMore && range !== undefined ? Math.min(range.from, line) : line
    const to = isMore && range !== undefined ? Math.max(range.to, line) : line
    onRange?.(range?.from === from && range.to === to ? undefined : { from, to })
  }

  const toNext = (step: 1 | -1) => (wanted === '' ? toError : goTo)(step)
  useKeys({
    f: () => setFollowing(!isFollowing),
    n: () => toNext(1),
    N: () => toNext(-1),
    '/': () => searchField.current?.focus(),
  })

  const moveBy = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 || count === 0 || !event.shiftKey) return
    event.preventDefault()
    if (range === undefined) {
      // The choice begins at the first line that is seen.
      const first = rows.range?.startIndex ?? 0
      const line = (shown === undefined ? first : (shown[first] ?? 0)) + 1
      return onRange?.({ from: line, to: line })
    }
    const to = Math.min(size, Math.max(range.from, range.to + step))
    onRange?.({ from: range.from, to })
    rows.scrollToIndex(placeOf(shown, to - 1))
  }

  const currentLine = matches[current]
  const digits = String(size).length
  return (
    <div className={styles.view}>
      <LogBar
        {...{ store, size, levels, setLevels, wanted, setWanted, isGrowing, isFollowing, setFollowing }}
        {...{ isWrapped, setWrapped, fileName, range, searchField, goTo }}
        found={{ at: current, of: matches.length }}
      />
      {store.limit !== undefined && (
        <p role="status" className={layout.notice}>
          This log ends at its limit of {store.limit.lines.toLocaleString('en')} lines or{' '}
          {store.limit.size.toLocaleString('en')} {store.limit.unit}. Later lines were dropped.
        </p>
      )}
      <ScrollRegion
        label="Log"
        ref={scroller}
        className={`${styles.scroller} ${isWrapped ? styles.wrapped : ''}`}
        // Room for a scrollbar, so that it hides no line.
        style={{ height: `min(62dvh, ${Math.max(rows.getTotalSize(), 60) + 20}px)` }}
        onKeyDown={moveBy}
        onWheel={({ deltaY }) => deltaY < 0 && setFollowing(false)}
      >
        {count === 0 && <div className={styles.empty}>{empty ?? 'There is no line'}</div>}
        <div className={styles.lines} style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start, key }) => {
            const line = shown === undefined ? index : (shown[index] ?? 0)
            const content = store.line(line)
            if (content === undefined) return null
            return (
              <LogLineRow
                key={key}
                index={index}
                number={line + 1}
                start={start}
                digits={digits}
                content={content}
                wanted={wanted}
                isCurrent={line === currentLine}
                isChosen={range !== undefined && line + 1 >= range.from && line + 1 <= range.to}
                measure={isWrapped ? rows.measureElement : undefined}
                onChoose={onRange && choose}
                linkTo={linkTo}
              />
            )
          })}
        </div>
      </ScrollRegion>
    </div>
  )
}
