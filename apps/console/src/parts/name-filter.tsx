import layout from './layout.module.css'

interface Props {
  /** What is filtered: modules. */
  what: string
  value: string
  onChange: (value: string) => void
}

/** Leaves of a list those with the words in their name. */
export function NameFilter({ what, value, onChange }: Props) {
  return (
    <input
      type="search"
      className={layout.filter}
      aria-label={`Filter ${what}`}
      placeholder="Filter by name"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
