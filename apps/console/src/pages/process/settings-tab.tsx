import { useNavigate, useParams } from '@tanstack/react-router'
import { ProblemError } from '../../api/problem.ts'
import { useChangeProcess } from '../../api/queries/process-settings.ts'
import { useProcessRecord, type ProcessRecord } from '../../api/queries/processes.ts'
import { AskBeforeLeaving } from '../../parts/ask-before-leaving.tsx'
import { Answer } from '../../parts/page-states.tsx'
import { settingsInput, settingsOf, type Settings } from '../../rules/process-settings.ts'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import { ChangedMeanwhile } from './changed-meanwhile.tsx'
import { SaveBar } from './save-bar.tsx'
import { AboutProcess } from './settings/about-process.tsx'
import { DeleteProcess } from './settings/delete-process.tsx'
import { FormLink } from './settings/form-link.tsx'
import { FormSettings } from './settings/form-settings.tsx'
import { GeneralSettings } from './settings/general-settings.tsx'
import { SchemaSettings } from './settings/schema-settings.tsx'
import { settingNames } from './settings/setting-names.ts'
import { useDraft } from './use-draft.ts'
import styles from './tab.module.css'

/** What a process is called, what parameters it takes, its form, and its deletion. */
export function SettingsTab() {
  const { team, slug } = useParams({ from: '/t/$team/processes/$slug' })
  const record = useProcessRecord(team, slug)
  return (
    <Answer of={record} what="settings">
      {(known) => <AllSettings key={known.process.id} team={team} slug={slug} record={known} />}
    </Answer>
  )
}

export interface SettingsPartProps {
  values: Settings
  set: (changes: Partial<Settings>) => void
  /** What the service finds wrong with a field, by JSON pointer. */
  faultAt: (pointer: string) => string | undefined
}

/** The pointers at which a field shows what is wrong; all else is shown at the end. */
const SHOWN = /^\/(name|slug|description|tags|parametersSchema|settings\/formsConfig\/(tag|frameAncestors))(\/|$)/

function AllSettings({ team, slug, record }: { team: string; slug: string; record: ProcessRecord }) {
  const mayBuild = useMay('build')
  const draft = useDraft(record, settingsOf)
  const change = useChangeProcess(team, slug)
  const say = useToast()
  const navigate = useNavigate()
  const faults = change.error instanceof ProblemError ? [...change.error.faults] : []
  const isShown = faults.length > 0 && faults.every(([pointer]) => SHOWN.test(pointer))
  const part: SettingsPartProps = {
    values: draft.values,
    set: draft.set,
    faultAt: (field) =>
      faults
        .filter(([pointer]) => pointer === field || pointer.startsWith(`${field}/`))
        .map(([pointer, message]) => `${pointer.slice(field.length + 1)} ${message}`.trim())
        .join('; ') || undefined,
  }
  const save = () => {
    const sent = draft.changes
    change.mutate(
      { input: settingsInput(sent), etag: draft.etag },
      {
        onSuccess: (written) => {
          const { process } = written
          draft.saved(sent, written)
          say('The settings are saved')
          if (process.slug !== slug && process.id !== slug)
            void navigate({
              to: '/t/$team/processes/$slug/settings',
              params: { team, slug: process.slug },
              replace: true,
              ignoreBlocker: true,
            })
        },
      },
    )
  }
  return (
    <div className={styles.tab}>
      <AskBeforeLeaving isDirty={draft.isDirty} />
      <form
        className={styles.tab}
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <fieldset className={styles.plainTab} disabled={!mayBuild}>
          <div className={styles.pair}>
            <GeneralSettings {...part} />
            <SchemaSettings {...part} />
          </div>
          <FormSettings {...part} team={team} slug={slug} />
        </fieldset>
        {mayBuild ? (
          <div className={draft.isDirty ? styles.saveBar : undefined}>
            <ChangedMeanwhile process={record.process} draft={draft} names={settingNames} />
            <SaveBar
              isDirty={draft.isDirty}
              isBusy={change.isPending}
              isBlocked={draft.theirs !== undefined}
              error={isShown ? null : change.error}
              onDrop={() => {
                draft.takeTheirs()
                change.reset()
              }}
            />
          </div>
        ) : (
          <p className={styles.soft}>Changes take the scope build.</p>
        )}
      </form>
      <FormLink team={team} slug={slug} record={record} />
      <AboutProcess team={team} process={record.process} />
      {mayBuild && <DeleteProcess team={team} process={record.process} />}
    </div>
  )
}
