import { useMemo, type ComponentProps } from 'react'
import { digitsOf, typedNumber } from '../rules/exact-json.ts'
import {
  aboveAll,
  aboveOf,
  choicesOf,
  faultsOf,
  kindOf,
  resolved,
  type Above,
  type JsonSchema,
} from '../rules/json-schema.ts'
import { jsonOf } from '../rules/json-text.ts'
import { Button } from './button.tsx'
import { Field } from './field.tsx'
import { icons } from './icons.tsx'
import type { SchemaFormProps } from './schema-form.tsx'
import { TextArea } from './text-area.tsx'
import styles from './schema-form.module.css'

interface Place {
  whole: JsonSchema
  schema: JsonSchema
  /** Null where it stands within itself or too deep: only JSON can say it. */
  above: Above | null
  name: string
  pointer: string
  isNeeded: boolean
  value: unknown
  onChange: (value: unknown) => void
  faults: ReadonlyMap<string, string>
}

type Props = Omit<SchemaFormProps, 'schema'> & { schema: JsonSchema }

const NO_FAULTS: ReadonlyMap<string, string> = new Map()

export default function SchemaFields({ schema, value, onChange, faults = NO_FAULTS, isChecked }: Props) {
  const own = useMemo(() => (isChecked ? faultsOf(schema, value ?? {}) : NO_FAULTS), [schema, value, isChecked])
  const all = useMemo(() => new Map([...own, ...faults]), [own, faults])
  const above = useMemo(() => aboveAll(schema), [schema])
  const place = { whole: schema, schema, above, name: '', pointer: '', isNeeded: true }
  return <Members {...{ ...place, value, onChange, faults: all }} />
}

function Members({ whole, schema, above, pointer, value, onChange, faults }: Place) {
  const members = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  return (
    <div className={styles.fields}>
      {Object.entries(schema.properties ?? {}).map(([key, member]) => (
        <Member
          key={key}
          whole={whole}
          schema={resolved(member, whole)}
          above={above && aboveOf(member, above)}
          name={key}
          pointer={`${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`}
          isNeeded={schema.required?.includes(key) ?? false}
          value={members[key]}
          onChange={(changed) => onChange(withMember(members, key, changed))}
          faults={faults}
        />
      ))}
    </div>
  )
}

function withMember(members: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  const { [key]: _, ...others } = members
  return value === undefined ? others : { ...members, [key]: value }
}

function Member(place: Place) {
  const { schema, above, name, pointer, isNeeded, faults } = place
  const kind = above === null && kindOf(schema) === 'object' ? 'json' : kindOf(schema)
  const title = schema.title ?? name
  if (kind === 'object' || kind === 'list')
    return (
      <fieldset className={styles.group}>
        <legend>{isNeeded ? `${title} *` : title}</legend>
        {schema.description && <p className={styles.hint}>{schema.description}</p>}
        {faults.get(pointer) && (
          <p role="alert" className={styles.fault}>
            {faults.get(pointer)}
          </p>
        )}
        {kind === 'object' ? <Members {...place} /> : <Items {...place} />}
      </fieldset>
    )
  return (
    <Field label={isNeeded ? `${title} *` : title} hint={schema.description} fault={faults.get(pointer)}>
      {controlOf(kind, place)}
    </Field>
  )
}

function Items({ whole, schema, above, name, pointer, value, onChange, faults }: Place) {
  const items = Array.isArray(value) ? (value as unknown[]) : []
  const item = resolved(schema.items, whole)
  return (
    <div className={styles.fields}>
      {items.map((one, index) => (
        // Items have nothing else that tells them apart.
        <div key={index} className={styles.item}>
          <Member
            whole={whole}
            schema={{ ...item, title: item.title ?? `${index + 1}` }}
            above={above}
            name={name}
            pointer={`${pointer}/${index}`}
            isNeeded={false}
            value={one}
            onChange={(changed) => onChange(items.with(index, changed ?? null))}
            faults={faults}
          />
          <Button
            look="quiet"
            aria-label={`Remove item ${index + 1} of ${name}`}
            onClick={() => onChange(items.toSpliced(index, 1))}
          >
            <icons.cross />
          </Button>
        </div>
      ))}
      <div>
        <Button onClick={() => onChange([...items, kindOf(item) === 'object' ? {} : (item.default ?? null)])}>
          <icons.plus /> Add
        </Button>
      </div>
    </div>
  )
}

type Control = ComponentProps<typeof Field>['children']

function controlOf(kind: ReturnType<typeof kindOf>, { schema, isNeeded, value, onChange }: Place): Control {
  if (kind === 'boolean')
    return <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
  if (kind === 'choice') {
    const choices = choicesOf(schema) ?? []
    const chosen = choices.findIndex((choice) => JSON.stringify(choice.value) === JSON.stringify(value))
    return (
      <select
        value={chosen}
        required={isNeeded}
        onChange={(event) => onChange(choices[Number(event.target.value)]?.value)}
      >
        <option value={-1}>{isNeeded ? 'Choose' : '–'}</option>
        {choices.map(({ name }, index) => (
          <option key={name} value={index}>
            {name}
          </option>
        ))}
      </select>
    )
  }
  if (kind === 'number')
    return (
      <input
        type="number"
        step="any"
        min={digitsOf(schema.minimum) ?? schema.minimum}
        max={digitsOf(schema.maximum) ?? schema.maximum}
        value={typeof value === 'number' ? value : (digitsOf(value) ?? '')}
        onChange={(event) => onChange(event.target.value === '' ? undefined : typedNumber(event.target.value))}
      />
    )
  if (kind === 'json') {
    const shown = value === undefined ? '' : JSON.stringify(value)
    return (
      <TextArea
        value={shown}
        isCode
        onText={(text) => {
          const read = jsonOf(text)
          if (text.trim() === '') onChange(undefined)
          else if ('value' in read) onChange(read.value)
          else onChange(text)
        }}
      />
    )
  }
  return textControl(schema, typeof value === 'string' ? value : '', onChange)
}

const inputTypes: Record<string, string> = {
  date: 'date',
  time: 'time',
  email: 'email',
  uri: 'url',
  url: 'url',
  password: 'password',
}

function textControl({ format = '', maxLength, examples }: JsonSchema, text: string, onChange: Place['onChange']) {
  const example = typeof examples?.[0] === 'string' ? examples[0] : undefined
  const change = (changed: string) => onChange(changed === '' ? undefined : changed)
  if (format === 'textarea' || format === 'multiline' || (maxLength ?? 0) > 300)
    return <textarea rows={4} value={text} placeholder={example} onChange={(event) => change(event.target.value)} />
  return (
    <input
      type={inputTypes[format] ?? 'text'}
      value={text}
      placeholder={format === 'date-time' ? '2026-01-31T08:00:00Z' : example}
      onChange={(event) => change(event.target.value)}
    />
  )
}
