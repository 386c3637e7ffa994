import { useId } from 'react'
import { useProcessTags } from '../../api/queries/process-settings.ts'
import { Field } from '../../parts/field.tsx'

interface Props {
  team: string
  slug: string
  label?: string
  hint?: string
  fault?: string
  value: string
  onChange: (tag: string) => void
}

/** Asks for a version of a process by its tag, its id or an alias; what there is, is offered. */
export function TagField({ team, slug, label = 'Version', hint, fault, value, onChange }: Props) {
  const id = useId()
  const { data } = useProcessTags(team, slug)
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
        {data?.aliases.map((name) => (
          <option key={`alias ${name}`} value={name}>
            alias
          </option>
        ))}
        {data?.versions.map((tag) => (
          <option key={`version ${tag}`} value={tag}>
            version
          </option>
        ))}
      </datalist>
    </>
  )
}
