import { useChangeProcess, type ProcessInput } from '../../../api/queries/process-settings.ts'
import type { Process, ProcessRecord } from '../../../api/queries/processes.ts'
import { changedMeanwhile } from '../../../api/tagged.ts'
import { ProblemError } from '../../../api/problem.ts'
import { AskBeforeLeaving } from '../../../parts/ask-before-leaving.tsx'
import { Field } from '../../../parts/field.tsx'
import { Card } from '../../../parts/page.tsx'
import { wordsOf } from '../../../rules/header-lines.ts'
import { useMay } from '../../../session/session-context.ts'
import { useToast } from '../../../shell/toasts.tsx'
import { ChangedMeanwhile } from '../changed-meanwhile.tsx'
import { SaveBar } from '../save-bar.tsx'
import { useDraft } from '../use-draft.ts'
import styles from '../tab.module.css'

interface Access {
  username: string
  password: string
  addresses: string
}

const names = { username: 'User name', password: 'Password', addresses: 'Allowed addresses' }

const accessOf = ({ webhook }: Process): Access => ({
  username: webhook.username ?? '',
  password: '',
  addresses: (webhook.allowedAddresses ?? []).join('\n'),
})

/** Who may call the webhook: Basic credentials and addresses. */
export function WebhookAccess({ team, slug, record }: { team: string; slug: string; record: ProcessRecord }) {
  const mayBuild = useMay('build')
  const draft = useDraft(record, accessOf)
  const change = useChangeProcess(team, slug)
  const say = useToast()
  const { values } = draft
  const faults = change.error instanceof ProblemError ? change.error.faults : undefined
  const hasUser = record.process.webhook.username !== undefined

  const save = () => {
    const sent = draft.changes
    change.mutate(
      { input: { webhook: inputOf(sent) }, etag: draft.etag },
      {
        onSuccess: (written) => {
          draft.saved(sent, written)
          say('Saved who may call the webhook')
        },
      },
    )
  }
  const isOpen = !hasUser && record.process.webhook.allowedAddresses === undefined
  return (
    <Card title="Who may call">
      <p className={styles.soft}>
        {isOpen
          ? 'Anybody who knows the address. Ask for credentials or name addresses here, or check a signature in the code.'
          : 'Others are refused; deliveries below say why.'}
      </p>
      <AskBeforeLeaving isDirty={draft.isDirty} />
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <fieldset disabled={!mayBuild} className={styles.plain}>
          <div className={styles.fields}>
            <Field
              label={names.username}
              hint="By HTTP Basic; empty for none."
              fault={faults?.get('/webhook/username')}
            >
              <input
                autoComplete="off"
                value={values.username}
                onChange={(event) => draft.set({ username: event.target.value })}
              />
            </Field>
            <Field
              label={names.password}
              hint={hasUser ? 'Stored and never shown; type to replace it.' : 'At most 72 bytes.'}
              fault={faults?.get('/webhook/password')}
            >
              <input
                type="password"
                autoComplete="new-password"
                placeholder={hasUser ? '••••••••' : undefined}
                value={values.password}
                onChange={(event) => draft.set({ password: event.target.value })}
              />
            </Field>
          </div>
          <Field
            label={names.addresses}
            hint="Addresses and CIDRs such as 203.0.113.0/24, one a line; empty lets everybody call."
            fault={addressFault(faults)}
          >
            <textarea
              data-code
              rows={3}
              spellCheck={false}
              value={values.addresses}
              onChange={(event) => draft.set({ addresses: event.target.value })}
            />
          </Field>
          <ChangedMeanwhile process={record.process} draft={draft} names={names} />
          {mayBuild ? (
            <SaveBar
              isDirty={draft.isDirty}
              isBusy={change.isPending}
              isBlocked={draft.theirs !== undefined}
              error={faults?.size && changedMeanwhile(change.error) === undefined ? null : change.error}
              onDrop={() => {
                draft.takeTheirs()
                change.reset()
              }}
            />
          ) : (
            <p className={styles.soft}>Changes take the scope build.</p>
          )}
        </fieldset>
      </form>
    </Card>
  )
}

function inputOf({ username, password, addresses }: Partial<Access>): NonNullable<ProcessInput['webhook']> {
  return {
    ...(username !== undefined && { username: username.trim() || null }),
    ...(password !== undefined && password !== '' && { password }),
    ...(addresses !== undefined && { allowedAddresses: wordsOf(addresses) }),
  }
}

function addressFault(faults: ReadonlyMap<string, string> | undefined): string | undefined {
  const found = [...(faults ?? [])].find(([path]) => path.startsWith('/webhook/allowedAddresses'))
  return found?.[1]
}
