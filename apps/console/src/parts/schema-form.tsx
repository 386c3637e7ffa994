import { lazy, Suspense, useState } from 'react'
import type { JsonSchema } from '../rules/json-schema.ts'
import { jsonOf } from '../rules/json-text.ts'
import { CodeEditor } from './code-editor.tsx'
import { Loading } from './page-states.tsx'
import styles from './schema-form.module.css'

const Fields = lazy(() => import('./schema-fields.tsx'))

export interface SchemaFormProps {
  /** Without one, or with one that asks for no object, only JSON can be given. */
  schema?: JsonSchema | null
  value: unknown
  /** `fault`: the JSON that is typed can't be read, and the value is the one before. */
  onChange: (value: unknown, fault?: string) => void
  /** What the service finds wrong, by JSON pointer into the value. */
  faults?: ReadonlyMap<string, string>
  /** Shows what the schema finds wrong; from the first attempt to send on. */
  isChecked?: boolean
  label?: string
  /** For who knows nothing of JSON: the fields alone, below a heading of the page. */
  isPlain?: boolean
}

/** A form from a JSON schema, and the same value as JSON. */
export function SchemaForm({
  schema,
  value,
  onChange,
  faults,
  isChecked = false,
  label = 'Parameters',
  isPlain = false,
}: SchemaFormProps) {
  const hasForm = schema?.properties !== undefined
  const [isJson, setJson] = useState(false)
  const showsForm = hasForm && !isJson
  return (
    <div className={styles.form}>
      {!isPlain && (
        <div className={styles.head}>
          <h3>{label}</h3>
          {hasForm && (
            <div className={styles.ways} role="group" aria-label={`${label} as`}>
              {['Form', 'JSON'].map((way) => (
                <button
                  key={way}
                  type="button"
                  aria-pressed={(way === 'JSON') === isJson}
                  onClick={() => setJson(way === 'JSON')}
                >
                  {way}
                </button>
              ))}
            </div>
          )}
        </div>
      )}
      {showsForm ? (
        <Suspense fallback={<Loading what="form" />}>
          <Fields schema={schema} value={value} onChange={onChange} faults={faults} isChecked={isChecked} />
        </Suspense>
      ) : (
        <JsonField label={label} value={value} onChange={onChange} />
      )}
      {!showsForm && faults !== undefined && faults.size > 0 && (
        <ul role="alert" className={styles.faults}>
          {[...faults].map(([pointer, message]) => (
            <li key={pointer}>
              <code>{pointer || '/'}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

interface JsonFieldProps {
  label: string
  value: unknown
  onChange: (value: unknown, fault?: string) => void
}

/** A value as JSON text; while the text can't be read, the fault is told and the value stays. */
function JsonField({ label, value, onChange }: JsonFieldProps) {
  const [text, setText] = useState(() => JSON.stringify(value ?? {}, undefined, 2))
  const read = jsonOf(text)
  const shown = 'value' in read && JSON.stringify(read.value) !== JSON.stringify(value ?? {})
  const current = shown ? JSON.stringify(value ?? {}, undefined, 2) : text
  const change = (next: string) => {
    setText(next)
    const { value: changed, fault } = { value: undefined, fault: undefined, ...jsonOf(next) }
    if (fault === undefined) onChange(changed)
    else onChange(value, fault.message)
  }
  return (
    <>
      <CodeEditor
        label={`${label} as JSON`}
        language="json"
        value={current}
        onChange={change}
        faults={'fault' in read ? [read.fault] : NONE}
        height={SMALL}
      />
      {'fault' in read && (
        <p role="alert" className={styles.fault}>
          {read.fault.message}
        </p>
      )}
    </>
  )
}

const NONE: never[] = []
const SMALL = { min: 72, max: 320 }
