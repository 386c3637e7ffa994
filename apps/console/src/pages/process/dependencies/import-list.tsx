import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../../api/client.ts'
import { useImports } from '../../../api/queries/process-settings.ts'
import type { Process } from '../../../api/queries/processes.ts'
import { Button } from '../../../parts/button.tsx'
import type { IconName } from '../../../parts/icon-outlines.ts'
import { icons } from '../../../parts/icons.tsx'
import { Card } from '../../../parts/page.tsx'
import { Answer } from '../../../parts/page-states.tsx'
import { Table, type Column } from '../../../parts/table.tsx'
import { packageOf } from '../../../rules/package-of.ts'
import styles from './packages.module.css'
import tab from '../tab.module.css'

type Import = Schemas['SourceImport']

interface Props {
  team: string
  process: Process
  /** The packages of the process as they are typed now. */
  staged: Record<string, string>
  onAdd: (name: string) => void
}

const kinds: Record<Import['kind'], [icon: IconName, word: string, tone: string | undefined]> = {
  builtin: ['check', 'Built in', undefined],
  package: ['box', 'Package', styles.good],
  module: ['puzzle', 'Module', styles.good],
  missing: ['warning', 'Missing', styles.bad],
}

/** What the stored source imports, where that comes from, and what is missing. */
export function ImportList({ team, process, staged, onAdd }: Props) {
  const check = useImports(team, process)
  const ownVersion = (name: string) => staged[packageOf(name, process.programmingLanguage)]
  const columns: Column<Import>[] = [
    { name: 'Import', isMain: true, cell: ({ name }) => <code>{name}</code> },
    { name: 'Found as', cell: ({ name, kind }) => <Kind of={kind} isOwn={ownVersion(name) !== undefined} /> },
    {
      name: 'Version',
      cell: ({ name, version = ownVersion(name) }) => (version === undefined ? '–' : <code>{version}</code>),
    },
    {
      name: 'Add',
      align: 'end',
      cell: ({ name, kind }) =>
        ownVersion(name) === undefined ? (
          <Remedy team={team} kind={kind} wanted={packageOf(name, process.programmingLanguage)} onAdd={onAdd} />
        ) : (
          '–'
        ),
    },
  ]
  return (
    <Card title="What the source imports">
      <Answer of={check} what="imports">
        {({ imports, faults }) => (
          <>
            {faults.map(({ message, line, column }) => (
              <p key={`${line}:${column ?? 0}`} className={styles.fault}>
                <icons.warning />
                <Link to="/t/$team/processes/$slug/edit" params={{ team, slug: process.slug }} search={{ line }}>
                  Line {line}
                </Link>{' '}
                {message}
              </p>
            ))}
            {imports.length === 0 ? (
              <p className={tab.soft}>It imports nothing.</p>
            ) : (
              <Table caption="Imports" columns={columns} rows={imports} keyOf={({ name }) => name} />
            )}
          </>
        )}
      </Answer>
    </Card>
  )
}

/** The check knows the packages of the team; those of the process are its own. */
function Kind({ of, isOwn }: { of: Import['kind']; isOwn: boolean }) {
  const [icon, word, tone] = kinds[isOwn ? 'package' : of]
  const Icon = icons[icon]
  return (
    <span className={`${styles.kind} ${tone ?? ''}`}>
      <Icon />
      {isOwn ? 'Package of this process' : word}
    </span>
  )
}

interface RemedyProps extends Pick<Props, 'team' | 'onAdd'> {
  kind: Import['kind']
  /** The package that may be missing. */
  wanted: string
}

function Remedy({ team, kind, wanted, onAdd }: RemedyProps) {
  if (kind === 'module')
    return (
      <Link to="/t/$team/modules" params={{ team }}>
        Modules
      </Link>
    )
  if (kind !== 'missing') return <>–</>
  return (
    <Button aria-label={`Add the package ${wanted}`} onClick={() => onAdd(wanted)}>
      <icons.plus />
      Add
    </Button>
  )
}
