import { useEffect, useRef } from 'react'
import styles from './executions.module.css'

interface Props {
  label: string
  options: readonly (readonly [value: string, word: string])[]
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
}

/** Between the box of the choices and the edge of the window. */
const MARGIN_PX = 8

/** Several of a few, behind a button that says which. */
export function Choices({ label, options, chosen, onChange }: Props) {
  const details = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const close = (event: Event) => {
      if (event instanceof KeyboardEvent && event.key !== 'Escape') return
      if (event instanceof MouseEvent && details.current?.contains(event.target as Node) === true) return
      details.current?.removeAttribute('open')
    }
    document.addEventListener('click', close)
    document.addEventListener('keydown', close)
    return () => {
      document.removeEventListener('click', close)
      document.removeEventListener('keydown', close)
    }
  }, [])
  const keepInWindow = () => {
    const box = details.current?.querySelector('fieldset')
    if (!box) return
    box.style.translate = ''
    const beyond = box.getBoundingClientRect().right + MARGIN_PX - document.documentElement.clientWidth
    if (beyond > 0) box.style.translate = `${-beyond}px`
  }
  const words = options.filter(([value]) => chosen.includes(value)).map(([, word]) => word)
  return (
    <details
      ref={details}
      onToggle={keepInWindow}
      className={`${styles.filter} ${chosen.length > 0 ? styles.set : ''}`}
    >
      <summary>
        <span>{label}</span>{' '}
        {words.length === 0 ? 'all' : words.length > 2 ? `${words.length} chosen` : words.join(', ')}
      </summary>
      <fieldset className={styles.choices}>
        <legend className="visually-hidden">{label}</legend>
        {options.map(([value, word]) => (
          <label key={value}>
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={() =>
                onChange(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value])
              }
            />
            {word}
          </label>
        ))}
      </fieldset>
    </details>
  )
}
