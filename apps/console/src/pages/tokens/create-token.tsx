import { useState } from 'react'
import type { Schemas } from '../../api/client.ts'
import { useCreateServiceAccount, type Scope } from '../../api/queries/tokens.ts'
import { Dialog, FormActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { faultAt, FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { useScopes } from '../../session/session-context.ts'
import { NewToken } from './new-token.tsx'

const scopes: [Scope, string][] = [
  ['read', 'Reads all but secrets'],
  ['run', 'Starts and kills runs, uploads files'],
  ['build', 'Changes processes, modules, variables, packages and sandboxes'],
  ['admin', 'Changes the team and its tokens'],
  ['executor', 'All of these but admin, as older clients ask for'],
  ['mcp:tools', 'Offers processes to assistants as tools'],
  ['mcp:read', 'Reads through an assistant'],
  ['mcp:run', 'Starts runs through an assistant'],
  ['mcp:build', 'Changes processes through an assistant'],
]

const lives = [
  ['', 'not by itself'],
  ['7', 'in 7 days'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
] as const

/** Creates a service account; its secret is shown this once. */
export function CreateToken({ team, onClose }: { team: string; onClose: () => void }) {
  const [made, setMade] = useState<Schemas['NewServiceAccount']>()
  return (
    <Dialog title={made ? 'The API token' : 'New token'} isOpen onClose={onClose}>
      {made ? <NewToken account={made} onClose={onClose} /> : <Form team={team} onMade={setMade} onClose={onClose} />}
    </Dialog>
  )
}

interface FormProps {
  team: string
  onMade: (account: Schemas['NewServiceAccount']) => void
  onClose: () => void
}

function Form({ team, onMade, onClose }: FormProps) {
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(new Set(['read']))
  const creation = useCreateServiceAccount(team)
  // A token grants no more than it has; the service has the last word.
  const may = useScopes()
  const toggle = (scope: Scope) =>
    setChosen((before) =>
      before.has(scope) ? new Set([...before].filter((one) => one !== scope)) : new Set([...before, scope]),
    )
  const submit = () => {
    const expiresAt = days === '' ? undefined : new Date(Date.now() + Number(days) * 86_400_000).toISOString()
    const body = { name, scopes: [...chosen], ...(expiresAt && { expiresAt: expiresAt.replace(/\.\d+Z$/, 'Z') }) }
    creation.mutate(body, { onSuccess: onMade })
  }
  return (
    <form
      className={layout.stack}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <Field label="Name" hint="It stands beside what the program does." fault={faultAt(creation.error, '/name')}>
        <input required autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <fieldset className={layout.fieldset}>
        <legend>Scopes</legend>
        {scopes.map(([scope, words]) => (
          <label key={scope} className={layout.check}>
            <input type="checkbox" checked={chosen.has(scope)} disabled={!may(scope)} onChange={() => toggle(scope)} />
            <span>
              {scope} <span className={layout.soft}>{may(scope) ? words : 'Your session does not have it'}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Field label="Ends" fault={faultAt(creation.error, '/expiresAt')}>
        <select value={days} onChange={(event) => setDays(event.target.value)}>
          {lives.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </Field>
      <FormFault error={creation.error} paths={['/name', '/expiresAt']} />
      <FormActions onCancel={onClose} isBusy={creation.isPending} disabled={chosen.size === 0}>
        Create
      </FormActions>
    </form>
  )
}
