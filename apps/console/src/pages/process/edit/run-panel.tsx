import { useState } from 'react'
import { ProblemError } from '../../../api/problem.ts'
import { useRunTargets } from '../../../api/queries/versions.ts'
import { useExecuteProcess, type Process } from '../../../api/queries/processes.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { Field } from '../../../parts/field.tsx'
import { icons } from '../../../parts/icons.tsx'
import layout from '../../../parts/layout.module.css'
import { Fault } from '../../../parts/page-states.tsx'
import { SchemaForm } from '../../../parts/schema-form.tsx'
import { useCopy } from '../../../parts/use-copy.ts'
import { useCtrlEnter, useKeys } from '../../../parts/use-keys.ts'
import { restCurl, startInCode } from '../../../rules/as-curl.ts'
import { parsedExactly } from '../../../rules/exact-json.ts'
import { faultsOf, keptParameters, startOf, withoutSecrets, type JsonSchema } from '../../../rules/json-schema.ts'
import { withRecent } from '../../../rules/recent.ts'
import { keepList, keptList } from '../../../session/kept-here.ts'
import { useMay, useSession } from '../../../session/session-context.ts'
import styles from './edit.module.css'

/** How many sets of parameters are kept for each process; a rerun offers the same ones. */
const KEPT = 5
const MS_A_SECOND = 1000

/** Where the parameters are in the input of a run. */
const PLACE = '/parameters'

interface Props {
  team: string
  process: Process
  /** What is written and not saved; undefined where it is what is stored. */
  draft: string | undefined
  /** The parameters that it begins with, in place of those of the schema. */
  given: unknown
  onRun: (executionId: string) => void
}

/** Starts the process with parameters: what stands in the editor, or a version of it. */
export function RunPanel({ team, process, draft, given, onRun }: Props) {
  const { id } = process
  const schema = process.parametersSchema as JsonSchema | null
  const keptName = `parameters:${team}:${id}`
  const [kept, setKept] = useState(() => keptList<string>(keptName))
  const [parameters, setParameters] = useState<unknown>(() => given ?? (schema && startOf(schema)) ?? {})
  const [unreadable, setUnreadable] = useState<string>()
  const [isChecked, setChecked] = useState(false)
  const [tag, setTag] = useState('')
  const [seconds, setSeconds] = useState('')
  const { aliases, versions } = useRunTargets(team, id)
  const execute = useExecuteProcess(team)
  const mayRun = useMay('run')
  const { apiUrl } = useSession()
  const copy = useCopy()
  const own = schema !== null && isChecked ? faultsOf(schema, parameters) : undefined
  const refused = refusedAt(execute.error)
  const faults = new Map([...(own ?? []), ...refused])

  const what = tag === '' ? draft !== undefined && { draft: { sourceCode: draft } } : { tag }
  const run = () => {
    if (!mayRun || execute.isPending || unreadable !== undefined) return
    setChecked(true)
    if (schema !== null && faultsOf(schema, parameters).size > 0) return
    const sets = withRecent(kept, keptParameters(schema, parameters), KEPT)
    setKept(sets)
    keepList(keptName, sets)
    const settings = seconds !== '' && { settings: { timeout: Number(seconds) * MS_A_SECOND } }
    const body = { parameters: parameters as Record<string, unknown>, ...what, ...settings }
    execute.mutate({ id, body }, { onSuccess: ({ executionId }) => onRun(executionId) })
  }
  useCtrlEnter(run)
  const shown = withoutSecrets(schema, parameters)
  const curl = () => {
    const body = { parameters: shown, ...what }
    return restCurl(apiUrl, team, { method: 'POST', path: `/processes/${process.slug}/execute`, body })
  }
  const code = () =>
    startInCode({ slug: process.slug, parameters: shown, tag: tag || undefined }, process.programmingLanguage)
  useKeys({ y: () => copy(curl(), 'The call is copied') })
  const change = (value: unknown, fault?: string) => {
    setUnreadable(fault)
    setParameters(value)
    if (execute.error !== null) execute.reset()
  }
  return (
    <form
      aria-label="Run"
      noValidate
      className={layout.stack}
      onSubmit={(event) => {
        event.preventDefault()
        run()
      }}
    >
      <div className={`${layout.row} ${layout.bottom} ${layout.spread}`}>
        <Field label="Run">
          <select value={tag} onChange={(event) => setTag(event.target.value)}>
            <option value="">
              {draft === undefined ? 'The source as it is stored' : 'What is in the editor, unsaved'}
            </option>
            {[...aliases, ...versions].map((target) => (
              <option key={target} value={target}>
                {target}
              </option>
            ))}
          </select>
        </Field>
        <Button
          type="submit"
          look="primary"
          isBusy={execute.isPending}
          disabled={!mayRun || unreadable !== undefined}
          title={mayRun ? 'Ctrl+Enter' : 'Needs the scope run'}
        >
          <icons.play /> Run
        </Button>
      </div>
      <SchemaForm schema={schema} value={parameters} onChange={change} faults={faults} isChecked={isChecked} />
      <details>
        <summary className={styles.summary}>Timeout</summary>
        <Field
          label="Seconds"
          hint="Empty: that of the process"
          fault={execute.error instanceof ProblemError ? execute.error.faults.get('/settings/timeout') : undefined}
        >
          <input
            type="number"
            min={0.1}
            step="any"
            value={seconds}
            onChange={(event) => setSeconds(event.target.value)}
          />
        </Field>
      </details>
      <CopyAs curl={curl} code={code} />
      <RecentSets of={kept} onChoose={(set) => change(set)} />
      {execute.error !== null && refused.size === 0 && <Fault error={execute.error} />}
    </form>
  )
}

/** Of what the service refuses, what is wrong with the parameters, by JSON pointer into them. */
function refusedAt(error: Error | null): Map<string, string> {
  if (!(error instanceof ProblemError)) return new Map()
  const found = [...error.faults].filter(([path]) => path === PLACE || path.startsWith(`${PLACE}/`))
  return new Map(found.map(([path, message]) => [path.slice(PLACE.length), message]))
}

const MOST_CHARACTERS = 100

/** Parameters of earlier runs, to be taken again. */
function RecentSets({ of, onChoose }: { of: readonly string[]; onChoose: (set: unknown) => void }) {
  const sets = of.filter((set) => set !== '{}')
  if (sets.length === 0) return null
  return (
    <Field label="Earlier parameters">
      <select value="" onChange={(event) => event.target.value !== '' && onChoose(parsedExactly(event.target.value))}>
        <option value="">Choose</option>
        {sets.map((set) => (
          <option key={set} value={set}>
            {set.length > MOST_CHARACTERS ? `${set.slice(0, MOST_CHARACTERS)}…` : set}
          </option>
        ))}
      </select>
    </Field>
  )
}
