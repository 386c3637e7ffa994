import { useState } from 'react'
import { ProblemError } from '../../../api/problem.ts'
import { useSaveSchedule, useSchedulePreview } from '../../../api/queries/process-schedules.ts'
import { changedMeanwhile } from '../../../api/tagged.ts'
import { Button } from '../../../parts/button.tsx'
import { ChangedMeanwhile } from '../../../parts/changed-meanwhile.tsx'
import { Field } from '../../../parts/field.tsx'
import { Fault } from '../../../parts/page-states.tsx'
import { SchemaForm } from '../../../parts/schema-form.tsx'
import { useDebounced } from '../../../parts/use-debounced.ts'
import type { JsonSchema } from '../../../rules/json-schema.ts'
import { ParametersFault, scheduleInput, whenOf, type TypedSchedule } from '../../../rules/schedule-form.ts'
import { TagField } from '../tag-field.tsx'
import { SchedulePreview } from './schedule-preview.tsx'
import { WhenFields } from './when-fields.tsx'
import styles from './schedules.module.css'
import tab from '../tab.module.css'

interface Props {
  team: string
  slug: string
  /** The team's. */
  zone: string
  /** Of the parameters. */
  schema: JsonSchema | null
  initial: TypedSchedule
  /** What the button does. */
  verb: string
  /** The schedule that is changed; a new one is made where absent. */
  of?: { id: string; etag: string }
  onDone: () => void
}

/** How long the keys must rest before the next times are asked for. */
const REST_MS = 40
const PARAMETERS = '/input/parameters'

/** Asks when a process shall run, and with what, and shows the next times at each key. */
export function ScheduleForm({ team, slug, zone, schema, initial, verb, of, onDone }: Props) {
  const [typed, setTyped] = useState(initial)
  // What is typed began from this state: that of a later read would let it overwrite what others wrote.
  const [before] = useState(of)
  const [parametersFault, setParametersFault] = useState<string>()
  const set = (changes: Partial<TypedSchedule>) => setTyped((old) => ({ ...old, ...changes }))
  const when = whenOf(typed)
  const preview = useSchedulePreview(team, useDebounced(when && JSON.stringify(when), REST_MS))
  const save = useSaveSchedule(team, slug)
  const faults = save.error instanceof ProblemError ? save.error.faults : undefined

  const conflict = changedMeanwhile(save.error)

  const submit = (etag: string | undefined) => {
    const isOfTeam = typed.kind === 'cron' || typed.zone === zone
    try {
      const input = scheduleInput(typed, isOfTeam ? undefined : preview.data?.times[0]?.at)
      if (parametersFault !== undefined) return
      save.mutate(
        { input, of: before && { id: before.id, etag: etag ?? '*' } },
        {
          onSuccess: () => {
            setTyped(initial)
            onDone()
          },
        },
      )
    } catch (error) {
      if (!(error instanceof ParametersFault)) throw error
      setParametersFault(error.message)
    }
  }
  return (
    <form
      className={styles.split}
      onSubmit={(event) => {
        event.preventDefault()
        submit(before?.etag)
      }}
    >
      <div className={tab.form}>
        <WhenFields typed={typed} set={set} zone={zone} error={when === undefined ? null : preview.error} />
        <div className={tab.form}>
          <SchemaForm
            schema={schema}
            value={typed.parameters}
            onChange={(parameters, fault) => {
              set({ parameters })
              setParametersFault(fault)
            }}
            faults={faultsOfParameters(faults)}
            isChecked={save.submittedAt > 0}
          />
          {parametersFault && (
            <span role="alert" className={styles.bad}>
              {parametersFault}
            </span>
          )}
        </div>
        <div className={tab.fields}>
          <TagField
            team={team}
            identifier={slug}
            label="Version, tag or alias"
            hint="Empty: the current source."
            fault={faultBelow(faults, '/input/tag')}
            value={typed.tag}
            onChange={(tag) => set({ tag })}
          />
          <Field label="Comment" hint="Shown with each of its executions." fault={faultBelow(faults, '/input/comment')}>
            <input value={typed.comment} onChange={(event) => set({ comment: event.target.value })} />
          </Field>
        </div>
        <label className={tab.check}>
          <input
            type="checkbox"
            checked={typed.isConcurrent}
            onChange={(event) => set({ isConcurrent: event.target.checked })}
          />
          Runs may overlap. Otherwise the next one waits for the one before.
        </label>
        <ChangedMeanwhile what="schedule" problem={conflict} onOverwrite={submit} />
        {save.error && conflict === undefined && !isShownAtField(faults) && <Fault error={save.error} />}
        <div className={tab.row}>
          <Button
            type="submit"
            look="primary"
            isBusy={save.isPending}
            disabled={when === undefined || preview.isPlaceholderData || preview.error !== null}
          >
            {verb}
          </Button>
        </div>
      </div>
      <section aria-label="Next runs" className={styles.preview}>
        <h3>Next runs</h3>
        {preview.data === undefined || when === undefined ? (
          <p className={tab.soft}>They are shown as you type.</p>
        ) : (
          <SchedulePreview {...preview.data} zone={preview.data.zoneId} isOld={preview.isPlaceholderData} />
        )}
      </section>
    </form>
  )
}

function faultsOfParameters(faults: ReadonlyMap<string, string> | undefined): ReadonlyMap<string, string> | undefined {
  const own = [...(faults ?? [])].filter(([path]) => path.startsWith(PARAMETERS))
  return own.length === 0 ? undefined : new Map(own.map(([path, text]) => [path.slice(PARAMETERS.length), text]))
}

function faultBelow(faults: ReadonlyMap<string, string> | undefined, field: string): string | undefined {
  const found = [...(faults ?? [])].filter(([path]) => path === field || path.startsWith(`${field}/`))
  if (found.length === 0) return undefined
  return found.map(([path, message]) => `${path.slice(field.length + 1)} ${message}`.trim()).join('; ')
}

const isShownAtField = (faults: ReadonlyMap<string, string> | undefined): boolean =>
  faults !== undefined &&
  faults.size > 0 &&
  [...faults.keys()].every((path) => /^\/input\/(parameters|tag|comment)/.test(path))
