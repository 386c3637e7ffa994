import type { Schemas } from '../../api/client.ts'
import { useDiscardStaged, useInstallStaged, useStage, type Language } from '../../api/queries/dependencies.ts'
import { Button } from '../../parts/button.tsx'
import { FormFault } from '../../parts/form-fault.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { CurlHint } from '../../parts/curl-hint.tsx'
import { Empty } from '../../parts/page-states.tsx'
import { Card } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { changesBetween, type PackageChange, type Packages } from '../../rules/package-lists.ts'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import { useView } from '../../shell/view.ts'
import { AddPackages } from './add-packages.tsx'
import { NEWEST } from './newest.ts'
import styles from './dependencies.module.css'

interface Props {
  team: string
  language: Language
  manifest: Schemas['ProgrammingLanguageManifest']
}

/** The team's packages with what is staged beside what is installed; each change is staged at once. */
export function PackageList({ team, language, manifest: { dependencies, nextInstallation } }: Props) {
  const stage = useStage(team, language)
  const install = useInstallStaged(team, language)
  const discard = useDiscardStaged(team, language)
  const mayBuild = useMay('build')
  const say = useToast()
  const view = useView()
  const status = nextInstallation?.status
  const isInstalling = status === 'INSTALLING'
  const staged: Packages = nextInstallation && status !== 'INSTALLED' ? nextInstallation.dependencies : dependencies
  const changes = changesBetween(dependencies, staged)
  const isStaged = changes.some(({ kind }) => kind !== 'same')
  const isHeld = !mayBuild || isInstalling || stage.isPending
  const change = (next: Packages) => stage.mutate({ ...next })
  const begin = () =>
    install.mutate(undefined, {
      onSuccess: () => {
        say('The installation has begun')
        view.set({ install: NEWEST, to: '' })
      },
    })

  return (
    <Card
      title="Packages"
      actions={
        isStaged && (
          <>
            <Button disabled={isHeld} isBusy={discard.isPending} onClick={() => discard.mutate(undefined)}>
              Discard what is staged
            </Button>
            <Button
              look="primary"
              disabled={isHeld}
              isBusy={install.isPending || isInstalling}
              title={mayBuild ? undefined : 'Needs the scope build'}
              onClick={begin}
            >
              {isInstalling ? 'Installing…' : 'Install'}
            </Button>
          </>
        )
      }
    >
      {isStaged && !isInstalling && (
        <p className={layout.soft}>Runs see what is installed until the installation has succeeded.</p>
      )}
      <FormFault error={stage.error ?? install.error ?? discard.error} />
      {status === 'FAILED' && nextInstallation?.error && (
        <div role="alert" className={layout.notice}>
          <strong>The last installation has failed</strong>
          <pre>{nextInstallation.error}</pre>
        </div>
      )}
      <AddPackages language={language} isHeld={isHeld} onAdd={(added) => change({ ...staged, ...added })} />
      {changes.length === 0 ? (
        <Empty title="No packages yet">
          <p>Add one above; it is staged first and installed when you say so.</p>
          <CurlHint
            team={team}
            method="PUT"
            path={`/dependencies/${language}`}
            body={{ dependencies: language === 'PYTHON' ? { humanize: '>=4' } : { ms: '^2.1.3' } }}
          />
        </Empty>
      ) : (
        <Table
          caption="Packages"
          rows={changes}
          keyOf={({ name }) => name}
          columns={[
            { name: 'Package', isMain: true, cell: ({ name }) => <code>{name}</code> },
            { name: 'Installed', cell: ({ from }) => (from === undefined ? '–' : <code>{from}</code>) },
            {
              name: 'Staged',
              cell: (one) => (
                <StagedVersion
                  key={`${one.name} ${one.to ?? ''}`}
                  of={one}
                  isHeld={isHeld}
                  onChange={(version) => change({ ...staged, [one.name]: version })}
                />
              ),
            },
            { name: 'Change', cell: ({ kind }) => <Kind of={kind} /> },
            {
              name: 'Actions',
              align: 'end',
              cell: ({ name, kind, from = '' }) =>
                kind === 'removed' ? (
                  <Button disabled={isHeld} onClick={() => change({ ...staged, [name]: from })}>
                    Keep
                  </Button>
                ) : (
                  <Button
                    look="quiet"
                    aria-label={`Remove ${name}`}
                    title="Remove"
                    disabled={isHeld}
                    onClick={() => change(Object.fromEntries(Object.entries(staged).filter(([key]) => key !== name)))}
                  >
                    <icons.trash />
                  </Button>
                ),
            },
          ]}
        />
      )}
    </Card>
  )
}

interface VersionProps {
  of: PackageChange
  isHeld: boolean
  onChange: (version: string) => void
}

function StagedVersion({ of: { name, kind, to = '' }, isHeld, onChange }: VersionProps) {
  if (kind === 'removed') return <>–</>
  const take = (version: string) => {
    if (version !== '' && version !== to) onChange(version)
  }
  return (
    <input
      aria-label={`Version of ${name}`}
      className={styles.version}
      defaultValue={to}
      disabled={isHeld}
      spellCheck={false}
      onBlur={(event) => take(event.target.value.trim())}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur()
      }}
    />
  )
}

const words = { added: '+ added', removed: '− removed', changed: '~ changed', same: '' } as const

/** What becomes of a package, by sign, word and colour. */
export function Kind({ of }: { of: keyof typeof words }) {
  return <span className={styles[of]}>{words[of]}</span>
}
