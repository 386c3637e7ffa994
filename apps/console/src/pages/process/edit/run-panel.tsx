import { useState } from 'react'
import { ProblemError } from '../../../api/problem.ts'
import { useRunTargets } from '../../../api/queries/executions.ts'
import { useExecuteProcess, type Process } from '../../../api/queries/processes.ts'
import { Button } from '../../../parts/button.tsx'
import { Field } from '../../../parts/field.tsx'
import { icons } from '../../../parts/icons.tsx'
import layout from '../../../parts/layout.module.css'
import { Fault } from '../../../parts/page-states.tsx'
import { SchemaForm } from '../../../parts/schema-form.tsx'
import { useCtrlEnter } from '../../../parts/use-keys.ts'
import { faultsOf, startOf, type JsonSchema } from '../../../rules/json-schema.ts'
import { withRecent } from '../../../rules/recent.ts'
import { keepList, keptList } from '../../../session/kept-here.ts'
import { useMay } from '../../../session/session-context.ts'
import styles from './edit.module.css'
import { RecentSets } from './recent-sets.tsx'

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
  onRun: (executionId: string) => void
}

/** Starts the process with parameters: what stands in the editor, or a version of it. */
export function RunPanel({ team, process, draft, onRun }: Props) {
  const { id } = process
  const schema = process.parametersSchema as JsonSchema | null
  const keptName = `parameters:${team}:${id}`
  const [kept, setKept] = useState(() => keptList<string>(keptName))
  const [parameters, setParameters] = useState<unknown>(() => (schema === null ? {} : (startOf(schema) ?? {})))
  const [unreadable, setUnreadable] = useState<string>()
  const [isChecked, setChecked] = useState(false)
  const [tag, setTag] = useState('')
  const [seconds, setSeconds] = useState('')
  const { data: targets = [] } = useRunTargets(team, id)
  const execute = useExecuteProcess(team)
  const mayRun = useMay('run')
  const own = schema !== null && isChecked ? faultsOf(schema, parameters) : undefined
  const refused = refusedAt(execute.error)
  const faults = new Map([...(own ?? []), ...refused])

  const run = () => {
    if (!mayRun || execute.isPending || unreadable !== undefined) return
    setChecked(true)
    if (schema !== null && faultsOf(schema, parameters).size > 0) return
    const sets = withRecent(kept, JSON.stringify(parameters), KEPT)
    setKept(sets)
    keepList(keptName, sets)
    const what = tag === '' ? draft !== undefined && { draft: { sourceCode: draft } } : { tag }
    const settings = seconds !== '' && { settings: { timeout: Number(seconds) * MS_A_SECOND } }
    const body = { parameters: parameters as Record<string, unknown>, ...what, ...settings }
    execute.mutate({ id, body }, { onSuccess: ({ executionId }) => onRun(executionId) })
  }
  useCtrlEnter(run)
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
            {targets.map((target) => (
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
