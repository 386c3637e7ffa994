import { memo, useMemo, useState, type ReactNode } from 'react'
import { digitsOf } from '../rules/exact-json.ts'
import { valueOf } from '../rules/json-text.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import styles from './json-view.module.css'

const MEMBERS_SHOWN = 100
const CHARACTERS_SHOWN = 2000
/** So many more at a time: browsers stand still over millions. */
const CHARACTERS_MORE = 100_000
const LEVELS_OPEN = 2

/** What a text of JSON holds as such a tree. It is read once, as it may be large. */
export function JsonTextView({ text, what }: { text: string; what: string }) {
  const value = useMemo(() => valueOf(text), [text])
  return <JsonView value={value} what={what} />
}

/** A JSON value as a tree whose branches open and close; what is large is shown in part at first. */
export const JsonView = memo(function JsonView({ value, what = 'the value' }: { value: unknown; what?: string }) {
  return (
    <div className={styles.view}>
      <div className={styles.copy}>
        <CopyButton text={JSON.stringify(value, undefined, 2) ?? ''} what={what} />
      </div>
      <Node value={value} level={0} />
    </div>
  )
})

function Node({ name, value, level }: { name?: string; value: unknown; level: number }) {
  const label = name === undefined ? null : <span className={styles.name}>{name}: </span>
  const isBranch = typeof value === 'object' && value !== null && digitsOf(value) === undefined
  if (isBranch) return <Branch label={label} value={value} level={level} />
  return (
    <div className={styles.leaf}>
      {label}
      <Leaf value={value} />
    </div>
  )
}

function Branch({ label, value, level }: { label: ReactNode; value: object; level: number }) {
  const [isOpen, setOpen] = useState(level < LEVELS_OPEN)
  const [shown, setShown] = useState(MEMBERS_SHOWN)
  const members = Object.entries(value)
  const isList = Array.isArray(value)
  if (members.length === 0)
    return (
      <div className={styles.leaf}>
        {label}
        {isList ? '[]' : '{}'}
      </div>
    )
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span className={styles.soft}>{isList ? `[${members.length}]` : `{${members.length}}`}</span>
      </summary>
      {isOpen && (
        <div className={styles.members}>
          {members.slice(0, shown).map(([key, member]) => (
            <Node key={key} name={key} value={member} level={level + 1} />
          ))}
          {members.length > shown && (
            <Button look="quiet" onClick={() => setShown(shown + 10 * MEMBERS_SHOWN)}>
              Show more of {members.length}
            </Button>
          )}
        </div>
      )}
    </details>
  )
}

function Leaf({ value }: { value: unknown }) {
  const [shown, setShown] = useState(CHARACTERS_SHOWN)
  if (typeof value !== 'string') return <span className={styles.plain}>{digitsOf(value) ?? String(value)}</span>
  const isLong = value.length > shown
  return (
    <>
      <span className={styles.text}>{JSON.stringify(isLong ? value.slice(0, shown) : value)}</span>
      {isLong && (
        <Button look="quiet" onClick={() => setShown(shown + CHARACTERS_MORE)}>
          Show more of {value.length} characters
        </Button>
      )}
    </>
  )
}
