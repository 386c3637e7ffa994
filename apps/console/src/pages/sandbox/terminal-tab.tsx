import { useEffect, useRef, useState } from 'react'
import type { Sandbox } from '../../api/queries/sandboxes.ts'
import layout from '../../parts/layout.module.css'
import styles from './sandbox.module.css'

/** A shell in the sandbox, in a document of its own: what draws it puts in styles that the console's policy refuses. */
export function TerminalTab({ team, sandbox: { id, name } }: { team: string; sandbox: Sandbox }) {
  const [isForReader, setForReader] = useState(false)
  const afterwards = useRef<HTMLButtonElement>(null)
  const values = new URLSearchParams({ team, sandbox: id, name: name || id, ...(isForReader && { reader: '1' }) })
  const address = `/terminal.html?${values.toString()}`

  useEffect(() => {
    const onMessage = ({ origin, data }: MessageEvent<{ terminal?: string } | undefined>) => {
      if (origin === window.location.origin && data?.terminal === 'left') afterwards.current?.focus()
    }
    window.addEventListener('message', onMessage)
    return () => window.removeEventListener('message', onMessage)
  }, [])

  return (
    <div className={layout.tight}>
      <iframe key={address} title={`Terminal of ${name || id}`} src={address} className={styles.terminal} />
      <div className={`${layout.row} ${layout.spread}`}>
        <span className={layout.soft}>
          <kbd>Ctrl</kbd>+<kbd>Shift</kbd>+<kbd>L</kbd> leaves the terminal by keyboard.
        </span>
        <span className={layout.row}>
          <button
            ref={afterwards}
            type="button"
            className={layout.linkish}
            aria-pressed={isForReader}
            onClick={() => setForReader(!isForReader)}
          >
            {isForReader ? 'Without' : 'With'} screen reader support
          </button>
          <a href={address} target="_blank" rel="noreferrer">
            In a tab of its own
          </a>
        </span>
      </div>
    </div>
  )
}
