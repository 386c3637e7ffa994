import { useId, useRef, useState, type KeyboardEvent } from 'react'
import { ProblemError } from '../../../api/problem.ts'
import type { Process } from '../../../api/queries/processes.ts'
import { useSendWebhook, useVariableKeys, type SendInput } from '../../../api/queries/webhook-lab.ts'
import { Button } from '../../../parts/button.tsx'
import { Field } from '../../../parts/field.tsx'
import { icons } from '../../../parts/icons.tsx'
import layout from '../../../parts/layout.module.css'
import { Card } from '../../../parts/page.tsx'
import { Fault } from '../../../parts/page-states.tsx'
import { sampleParameters } from '../../../rules/sample-of.ts'
import { requestOf, RequestFault, type TypedRequest } from '../../../rules/webhook-request.ts'
import { schemeNames, schemes, type SchemeName } from '../../../rules/webhook-schemes.ts'
import { keepList, keptList } from '../../../session/kept-here.ts'
import { useMay } from '../../../session/session-context.ts'
import { VariableDialog } from '../../variables/variable-dialog.tsx'
import { CodeField } from '../code-field.tsx'
import { WebhookAnswer } from './webhook-answer.tsx'
import styles from '../tab.module.css'

const BODY = { min: 140, max: 420 }

/** How a request was signed; the next one begins with it, as a sender signs all of its requests alike. */
type SignedBy = Pick<TypedRequest, 'scheme' | 'variable' | 'header'>

interface Props {
  team: string
  slug: string
  process: Process
  /** What it begins with, in place of an example. */
  given?: Partial<TypedRequest>
  /** Told of a body that is typed. */
  onBody: (body: string) => void
}

/** Sends a request to the webhook, signed by the service as its sender would, and draws the answer. */
export function WebhookLab({ team, slug, process, given, onBody }: Props) {
  const mayBuild = useMay('build')
  const keptName = `signature:${team}:${process.id}`
  const [typed, setTyped] = useState<TypedRequest>(() => ({
    method: 'POST',
    body: JSON.stringify(sampleParameters(process.parametersSchema), undefined, 2),
    query: '',
    headers: '',
    ...(keptList<SignedBy>(keptName)[0] ?? { scheme: '', variable: '', header: '' }),
    ...given,
  }))
  const set = (changes: Partial<TypedRequest>) => setTyped((old) => ({ ...old, ...changes }))
  const [own, setOwn] = useState<RequestFault>()
  const [isMaking, setMaking] = useState(false)
  const send = useSendWebhook(team, slug)
  const form = useRef<HTMLFormElement>(null)
  const faults = send.error instanceof ProblemError ? send.error.faults : undefined
  const faultOf = (field: RequestFault['field'], path: string) =>
    own?.field === field ? own.message : faults?.get(path)

  const submit = () => {
    // Ctrl+Enter comes here, too, where the button is disabled.
    if (send.isPending || !mayBuild) return
    const input = inputOrFault(typed)
    setOwn(input instanceof RequestFault ? input : undefined)
    if (input instanceof RequestFault) return
    const { scheme, variable, header } = typed
    keepList(keptName, [{ scheme, variable, header } satisfies SignedBy])
    send.mutate(input)
  }
  return (
    <Card title="Try it">
      <form
        ref={form}
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <fieldset className={styles.plain} disabled={!mayBuild}>
          <div className={styles.fields}>
            <Field label="Method">
              <select value={typed.method} onChange={(event) => set({ method: event.target.value as 'GET' | 'POST' })}>
                <option>POST</option>
                <option>GET</option>
              </select>
            </Field>
            <Field label="Query" hint="a=1&b=2" fault={faultOf('query', '/query')}>
              <input
                spellCheck={false}
                autoComplete="off"
                value={typed.query}
                onChange={(event) => set({ query: event.target.value })}
              />
            </Field>
          </div>
          {typed.method === 'POST' && (
            <CodeField
              label="Body"
              language="json"
              hint="JSON is sent as application/json, all else as it is."
              fault={faultOf('body', '/body')}
              value={typed.body}
              onChange={(body) => {
                set({ body })
                onBody(body)
              }}
              readOnly={!mayBuild}
              onRun={() => form.current?.requestSubmit()}
              height={BODY}
            />
          )}
          <Field label="Headers" hint="Name: value, one a line." fault={faultOf('headers', '/headers')}>
            <textarea
              data-code
              rows={2}
              spellCheck={false}
              value={typed.headers}
              onKeyDown={sendOnCtrlEnter}
              onChange={(event) => set({ headers: event.target.value })}
            />
          </Field>
          <Signature {...{ team, typed, set, faultOf }} onMake={() => setMaking(true)} />
          <div className={styles.row}>
            <Button type="submit" look="primary" isBusy={send.isPending}>
              <icons.play />
              Send
            </Button>
            <span className={styles.soft}>
              {mayBuild ? 'It starts a real execution. Ctrl+Enter sends.' : 'Sending takes the scope build.'}
            </span>
          </div>
        </fieldset>
      </form>
      {isMaking && <VariableDialog team={team} name={typed.variable.trim()} onClose={() => setMaking(false)} />}
      {send.error && !faults?.size && <Fault error={send.error} />}
      {send.data && <WebhookAnswer team={team} sent={send.data} />}
    </Card>
  )
}

function sendOnCtrlEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.repeat)
    event.currentTarget.form?.requestSubmit()
}

function inputOrFault(typed: TypedRequest): SendInput | RequestFault {
  try {
    return requestOf(typed)
  } catch (error) {
    if (error instanceof RequestFault) return error
    throw error
  }
}

interface SignatureProps {
  team: string
  typed: TypedRequest
  set: (changes: Partial<TypedRequest>) => void
  faultOf: (field: RequestFault['field'], path: string) => string | undefined
  /** Makes the variable that is named. */
  onMake: () => void
}

function Signature({ team, typed, set, faultOf, onMake }: SignatureProps) {
  const id = useId()
  const { data: keys } = useVariableKeys(team, typed.scheme !== '')
  const wanted = typed.variable.trim()
  const isMissing = typed.scheme !== '' && wanted !== '' && keys !== undefined && !keys.includes(wanted)
  return (
    <div className={styles.fields}>
      <Field label="Signature">
        <select value={typed.scheme} onChange={(event) => set({ scheme: event.target.value as SchemeName | '' })}>
          <option value="">None</option>
          {schemeNames.map((name) => (
            <option key={name} value={name}>
              {schemes[name].name}
            </option>
          ))}
        </select>
      </Field>
      {typed.scheme !== '' && (
        <>
          <Field
            label="Variable of the secret"
            hint="Its value is used, and never shown."
            fault={faultOf('variable', '/signWith/variable')}
          >
            <input
              list={id}
              required
              autoComplete="off"
              spellCheck={false}
              value={typed.variable}
              onChange={(event) => set({ variable: event.target.value })}
            />
          </Field>
          {isMissing && (
            <button type="button" className={layout.linkish} onClick={onMake}>
              There is no variable {wanted}: make it
            </button>
          )}
          <datalist id={id}>
            {keys?.map((key) => (
              <option key={key} value={key}>
                {key}
              </option>
            ))}
          </datalist>
          <Field label="Header" fault={faultOf('header', '/signWith/header')}>
            <input
              required={typed.scheme === 'hmac'}
              placeholder={schemes[typed.scheme].header}
              autoComplete="off"
              spellCheck={false}
              value={typed.header}
              onChange={(event) => set({ header: event.target.value })}
            />
          </Field>
        </>
      )}
    </div>
  )
}
