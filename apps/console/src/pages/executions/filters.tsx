import { useRef, useState, type ReactNode } from 'react'
import { useProcessChoices } from '../../api/queries/executions.ts'
import { useAllVersions } from '../../api/queries/versions.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import { useKeys } from '../../parts/use-keys.ts'
import { ORIGINS, STATUSES, TRIALS, wordsOf, type ExecutionsSearch } from '../../rules/execution-filters.ts'
import { Choices } from './choices.tsx'
import { localInput } from '../../rules/local-times.ts'
import { processLabel } from '../../rules/process-label.ts'
import styles from './executions.module.css'

interface Props {
  team: string
  search: ExecutionsSearch
  processId: string | undefined
  onChange: (next: Partial<ExecutionsSearch>) => void
}

/** The filters of the list, each of which is in the address. */
export function Filters({ team, search, processId, onChange }: Props) {
  const processes = useProcessChoices(team)
  const versions = useAllVersions(team, processId)
  return (
    <search className={styles.filters}>
      <SearchField key={search.q} search={search} onChange={onChange} />
      <Choices
        label="Status"
        options={STATUSES.map((status) => [status, status.charAt(0) + status.slice(1).toLowerCase()])}
        chosen={wordsOf(search.status, STATUSES)}
        onChange={(words) => onChange({ status: words.join(',') })}
      />
      <Select
        label="Process"
        value={search.process}
        onChange={(process) => onChange({ process, version: undefined })}
        options={(processes.data ?? []).map((process) => [process.slug, processLabel(process)])}
      />
      {processId !== undefined && (versions.data?.length ?? 0) > 0 && (
        <Select
          label="Version"
          value={search.version}
          onChange={(version) => onChange({ version })}
          options={(versions.data ?? []).map(({ id, tag }) => [id, tag ?? id.slice(-8)])}
        />
      )}
      <Choices
        label="Started by"
        options={ORIGINS.map((origin) => [origin, origin === 'errorHandler' ? 'error handler' : origin])}
        chosen={wordsOf(search.origin, ORIGINS)}
        onChange={(words) => onChange({ origin: words.join(',') })}
      />
      <Select
        label="Trials"
        value={search.trial}
        onChange={(trial) => onChange({ trial: TRIALS.find((word) => word === trial) })}
        options={[
          ['false', 'without'],
          ['true', 'only'],
        ]}
      />
      <span className={styles.range}>
        <Instant label="From" value={search.from} onChange={(from) => onChange({ from })} />
        <Instant label="To" value={search.to} onChange={(to) => onChange({ to })} />
      </span>
      {search.schedule !== undefined && (
        <Button onClick={() => onChange({ schedule: undefined })}>
          Of one schedule <icons.cross />
        </Button>
      )}
    </search>
  )
}

function SearchField({ search, onChange }: Pick<Props, 'search' | 'onChange'>) {
  const [q, setQ] = useState(search.q ?? '')
  const field = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => field.current?.focus() })
  return (
    <form
      className={styles.q}
      onSubmit={(event) => {
        event.preventDefault()
        onChange({ q: q.trim() })
      }}
    >
      <icons.search />
      <input
        ref={field}
        type="search"
        aria-label="Words in parameters, value or error"
        placeholder="Parameters, value, error (/)"
        value={q}
        onChange={(event) => {
          setQ(event.target.value)
          if (event.target.value === '') onChange({ q: undefined })
        }}
      />
    </form>
  )
}

interface SelectProps {
  label: string
  value: string | undefined
  options: readonly (readonly [value: string, word: string])[]
  onChange: (value: string | undefined) => void
}

function Select({ label, value, options, onChange }: SelectProps) {
  return (
    <Labelled label={label} isSet={value !== undefined}>
      <select value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)}>
        <option value="">all</option>
        {value !== undefined && !options.some(([one]) => one === value) && <option value={value}>{value}</option>}
        {options.map(([one, word]) => (
          <option key={one} value={one}>
            {word}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

interface InstantProps {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}

function Instant({ label, value, onChange }: InstantProps) {
  return (
    <Labelled label={label} isSet={value !== undefined}>
      <input
        type="datetime-local"
        value={localInput(value ?? '')}
        onChange={(event) => onChange(event.target.value || undefined)}
      />
    </Labelled>
  )
}

function Labelled({ label, isSet, children }: { label: string; isSet: boolean; children: ReactNode }) {
  return (
    <label className={`${styles.filter} ${isSet ? styles.set : ''}`}>
      <span>{label}</span>
      {children}
    </label>
  )
}
