import { useId } from 'react'
import { useRunTargets } from '../../api/queries/versions.ts'
import { Field } from '../../parts/field.tsx'

interface Props {
  team: string
  /** Of the process. */
  identifier: string
  label?: string
  hint?: string
  fault?: string
  value: string
  onChange: (tag: string) => void
}

/** Asks for a version of a process by its tag, its id or an alias; what there is, is offered. */
export function TagField({ team, identifier, label = 'Version', hint, fault, value, onChange }: Props) {
  const id = useId()
  const { aliases, versions } = useRunTargets(team, identifier)
  return (
    <>
      <Field label={label} hint={hint} fault={fault}>
        <input
          list={id}
          autoComplete="off"
          spellCheck={false}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      </Field>
      <datalist id={id}>
        {aliases.map((name) => (
          <option key={`alias ${name}`} value={name}>
            alias
          </option>
        ))}
        {versions.map((tag) => (
          <option key={`version ${tag}`} value={tag}>
            version
          </option>
        ))}
      </datalist>
    </>
  )
}
