import type { RefObject } from 'react'
import { hashOf, type LineRange } from '../rules/line-range.ts'
import { LOG_LEVELS, type LogLevel, type LogStore } from '../rules/log-store.ts'
import { Button } from './button.tsx'
import { icons } from './icons.tsx'
import { saveAs } from './save-as.ts'
import { useCopy } from './use-copy.ts'
import styles from './log-view.module.css'

interface Props {
  store: LogStore
  size: number
  levels: ReadonlySet<LogLevel>
  setLevels: (levels: ReadonlySet<LogLevel>) => void
  wanted: string
  setWanted: (wanted: string) => void
  found: { at: number; of: number }
  goTo: (step: 1 | -1) => void
  searchField: RefObject<HTMLInputElement | null>
  isGrowing: boolean
  isFollowing: boolean
  setFollowing: (isFollowing: boolean) => void
  isWrapped: boolean
  setWrapped: (isWrapped: boolean) => void
  fileName: string
  range: LineRange | undefined
}

/** What can be done with a log: search, levels, follow, wrap, link, download. */
export function LogBar(props: Props) {
  const { wanted, setWanted, found, goTo, searchField, isFollowing, setFollowing, isWrapped, setWrapped } = props
  const none = props.store.limit === undefined ? 'none' : 'none in the lines that were kept'
  return (
    <div className={styles.bar}>
      <span className={styles.search} role="search">
        <icons.search />
        <input
          ref={searchField}
          type="search"
          aria-label="Search the log"
          placeholder="Search (/)"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') goTo(event.shiftKey ? -1 : 1)
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
        />
        <span className={styles.found} aria-live="polite">
          {wanted !== '' && (found.of === 0 ? none : `${found.at + 1} of ${found.of.toLocaleString('en')}`)}
        </span>
        <Button look="quiet" aria-label="Previous match" disabled={found.of === 0} onClick={() => goTo(-1)}>
          <icons.left />
        </Button>
        <Button look="quiet" aria-label="Next match" disabled={found.of === 0} onClick={() => goTo(1)}>
          <icons.right />
        </Button>
      </span>
      <Levels {...props} />
      <span className={styles.spring} />
      <Button
        look="quiet"
        aria-pressed={isFollowing}
        title="Follow the end (f)"
        onClick={() => setFollowing(!isFollowing)}
      >
        Follow
      </Button>
      <Button look="quiet" aria-pressed={isWrapped} onClick={() => setWrapped(!isWrapped)}>
        Wrap
      </Button>
      <CopyLink {...props} />
      <Button
        look="quiet"
        aria-label="Download"
        title="Download"
        disabled={props.size === 0}
        onClick={() => saveAs(props.fileName, asFile(props.store))}
      >
        <icons.download />
      </Button>
    </div>
  )
}

function Levels({ store, levels, setLevels }: Props) {
  const turn = (level: LogLevel) => {
    const next = new Set(levels)
    if (!next.delete(level)) next.add(level)
    setLevels(next.size === 0 ? new Set(LOG_LEVELS) : next)
  }
  return (
    <fieldset className={styles.levels}>
      <legend className="visually-hidden">Levels</legend>
      {LOG_LEVELS.map((level) => (
        <button
          key={level}
          type="button"
          aria-pressed={levels.has(level)}
          className={`${styles.levelButton} ${styles[level.toLowerCase()]}`}
          onClick={() => turn(level)}
        >
          {level.charAt(0) + level.slice(1).toLowerCase()} {store.counts[level].toLocaleString('en')}
        </button>
      ))}
    </fieldset>
  )
}

function CopyLink({ range, store }: Props) {
  const copy = useCopy()
  if (range === undefined) return null
  const address = () => `${window.location.href.split('#')[0]}#${hashOf(range)}`
  return (
    <>
      <Button look="quiet" onClick={() => copy(address(), 'The link is copied')}>
        <icons.link /> {hashOf(range)}
      </Button>
      <Button look="quiet" onClick={() => copy(store.asText(range.from - 1, range.to), 'The lines are copied')}>
        <icons.copy /> Lines
      </Button>
    </>
  )
}

const asFile = (store: LogStore): Blob => new Blob([store.asText(), '\n'], { type: 'text/plain' })
