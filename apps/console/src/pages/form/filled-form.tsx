import { useEffect, useMemo, useRef, useState } from 'react'
import { useSubmit, type Form, type FormPlace } from '../../api/queries/forms.ts'
import { ProblemError } from '../../api/problem.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import layout from '../../parts/layout.module.css'
import { Fault } from '../../parts/page-states.tsx'
import { SchemaForm } from '../../parts/schema-form.tsx'
import { fileFieldsOf, without, type FileField } from '../../rules/form-files.ts'
import { faultsOf as schemaFaultsOf, startOf, type JsonSchema } from '../../rules/json-schema.ts'
import { FormResult } from './form-result.tsx'
import styles from './form.module.css'

interface Props {
  place: FormPlace
  form: Form
}

/** What a form asks for, and the answer to it. */
export function FilledForm(props: Props) {
  const [round, setRound] = useState(0)
  // Each round begins empty: browsers forget the files of fields that went, and what was sent must not go again unseen.
  return <OneRound key={round} {...props} onAgain={() => setRound(round + 1)} />
}

function OneRound({ place, form, onAgain }: Props & { onAgain: () => void }) {
  const { name, description } = form
  const whole = form.schema as JsonSchema
  const fileFields = useMemo(() => fileFieldsOf(whole), [whole])
  const schema = useMemo(() => without(whole, new Set(fileFields.map((field) => field.name))), [whole, fileFields])
  const [value, setValue] = useState<unknown>(() => startOf(schema) ?? {})
  const [files, setFiles] = useState<ReadonlyMap<string, readonly File[]>>(new Map())
  const [isChecked, setChecked] = useState(false)
  const [fault, setFault] = useState<string>()
  const submission = useSubmit(place)
  const faults = useMemo(() => faultsOf(submission.error), [submission.error])
  const sheet = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (isChecked) sheet.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [isChecked, faults])
  const isMissing = ({ name: field, isNeeded }: FileField) => isNeeded && !files.get(field)?.length
  const hasFields = Object.keys(schema.properties ?? {}).length > 0
  const isAtFields = faults.size > 0 && [...faults.keys()].every((path) => path !== '')

  if (submission.isSuccess)
    return (
      <div className={layout.stack}>
        <h1>{name}</h1>
        <FormResult value={submission.data} />
        <div>
          <Button onClick={onAgain}>Fill it in again</Button>
        </div>
      </div>
    )
  return (
    <form
      ref={sheet}
      // Faults stand at their fields, all at once.
      noValidate
      className={layout.stack}
      onSubmit={(event) => {
        event.preventDefault()
        setChecked(true)
        if (fault === undefined && schemaFaultsOf(schema, value).size === 0 && !fileFields.some(isMissing))
          submission.mutate({ values: value as Record<string, unknown>, files })
      }}
    >
      <h1>{name}</h1>
      {description && <p className={styles.description}>{description}</p>}
      {hasFields && (
        <SchemaForm
          label={name}
          isPlain
          schema={schema}
          value={value}
          onChange={(next, wrong) => {
            setValue(next)
            setFault(wrong)
          }}
          faults={faults}
          isChecked={isChecked}
        />
      )}
      {fileFields.map((field) => (
        <Field
          key={field.name}
          label={field.isNeeded ? `${field.title} *` : field.title}
          hint={field.description}
          fault={isChecked && isMissing(field) ? 'Choose a file' : faults.get(`/${field.name}`)}
        >
          <input
            type="file"
            required={field.isNeeded}
            multiple={field.isMany}
            accept={field.accept}
            onChange={(event) => setFiles(new Map([...files, [field.name, [...(event.target.files ?? [])]]]))}
          />
        </Field>
      ))}
      {submission.error && !isAtFields && <Refusal error={submission.error} />}
      <div>
        <Button type="submit" look="primary" isBusy={submission.isPending}>
          {submission.isPending ? 'Sending…' : 'Send'}
        </Button>
      </div>
    </form>
  )
}

/** By JSON pointer into what the form sends. */
function faultsOf(error: Error | null): ReadonlyMap<string, string> {
  if (!(error instanceof ProblemError)) return new Map()
  return new Map([...error.faults].map(([path, message]) => [path.replace(/^\/parameters(?=\/|$)/, ''), message]))
}

function Refusal({ error }: { error: Error }) {
  const isLong = error instanceof ProblemError && error.problem.code === 'execution_timeout'
  if (!isLong) return <Fault error={error} />
  return (
    <p role="status" className={layout.notice}>
      It is sent and takes longer than this page waits. It goes on by itself.
    </p>
  )
}
