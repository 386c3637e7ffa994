import { Link, useParams } from '@tanstack/react-router'
import { useChangeProcess } from '../../api/queries/process-settings.ts'
import { useProcessRecord, type Process, type ProcessRecord } from '../../api/queries/processes.ts'
import { Card } from '../../parts/page.tsx'
import { AskBeforeLeaving } from '../../parts/ask-before-leaving.tsx'
import { Answer } from '../../parts/page-states.tsx'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import { ChangedMeanwhile } from './changed-meanwhile.tsx'
import { ImportList } from './dependencies/import-list.tsx'
import { PackageFields } from './dependencies/package-fields.tsx'
import { SaveBar } from './save-bar.tsx'
import { useDraft } from './use-draft.ts'
import styles from './tab.module.css'

/** What a process uses beside its own source: packages of its own, and what its source imports. */
export function DependenciesTab() {
  const { team, slug } = useParams({ from: '/t/$team/processes/$slug' })
  const record = useProcessRecord(team, slug)
  return (
    <Answer of={record} what="dependencies">
      {(known) => <Dependencies key={known.process.id} team={team} slug={slug} record={known} />}
    </Answer>
  )
}

interface Packages {
  dependencies: Record<string, string>
  isScoped: boolean
  autoDetect: boolean
}

const packagesOf = ({ manifest, settings }: Process): Packages => ({
  dependencies: manifest.dependencies,
  isScoped: settings.dependencies.scopedToProcess,
  autoDetect: settings.dependencies.autoDetect,
})

const names = { dependencies: 'Packages', isScoped: 'A set of its own', autoDetect: 'Found in the source' }

function Dependencies({ team, slug, record }: { team: string; slug: string; record: ProcessRecord }) {
  const mayBuild = useMay('build')
  const draft = useDraft(record, packagesOf)
  const change = useChangeProcess(team, slug)
  const say = useToast()
  const { process } = record
  const { dependencies, isScoped, autoDetect } = draft.values
  const save = () =>
    change.mutate(
      {
        input: {
          manifest: { dependencies },
          settings: { dependencies: { scopedToProcess: isScoped, autoDetect } },
        },
        etag: draft.etag,
      },
      {
        onSuccess: (written) => {
          draft.saved({ dependencies, isScoped, autoDetect }, written)
          say('Saved. Runs that come before the packages are installed wait for them.')
        },
      },
    )
  return (
    <div className={styles.tab}>
      {mayBuild ? (
        <ImportList
          team={team}
          process={process}
          staged={dependencies}
          onAdd={(name) => draft.set({ dependencies: { ...dependencies, [name]: '*' }, isScoped: true })}
        />
      ) : (
        <p className={styles.soft}>What the source imports is shown to those with the scope build.</p>
      )}
      <Card title="Packages of this process">
        <p className={styles.soft}>
          {isScoped
            ? 'Its runs see these packages, and not those of the team.'
            : 'Its runs see the packages of the team.'}{' '}
          <Link to="/t/$team/dependencies" params={{ team }}>
            Packages of the team
          </Link>
        </p>
        <AskBeforeLeaving isDirty={draft.isDirty} />
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault()
            save()
          }}
        >
          <fieldset className={styles.plain} disabled={!mayBuild}>
            <PackageFields
              language={process.programmingLanguage}
              packages={dependencies}
              onChange={(changed) =>
                draft.set({ dependencies: changed, isScoped: isScoped || Object.keys(changed).length > 0 })
              }
            />
            <label className={styles.check}>
              <input
                type="checkbox"
                checked={isScoped}
                onChange={(event) => draft.set({ isScoped: event.target.checked })}
              />
              A set of its own, apart from that of the team.
            </label>
            <label className={styles.check}>
              <input
                type="checkbox"
                checked={autoDetect}
                onChange={(event) => draft.set({ autoDetect: event.target.checked })}
              />
              <span>
                A saved source names its packages itself, by its imports and by comments such as{' '}
                <code>@add-package {process.programmingLanguage === 'PYTHON' ? 'pandas' : 'lodash@^4'}</code>.
              </span>
            </label>
          </fieldset>
          <ChangedMeanwhile process={process} draft={draft} names={names} />
          {mayBuild && (
            <SaveBar
              isDirty={draft.isDirty}
              isBusy={change.isPending}
              isBlocked={draft.theirs !== undefined}
              error={change.error}
              onDrop={() => {
                draft.takeTheirs()
                change.reset()
              }}
            />
          )}
        </form>
      </Card>
    </div>
  )
}
