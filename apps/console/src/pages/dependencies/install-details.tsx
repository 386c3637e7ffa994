import { useEffect, useRef } from 'react'
import stripAnsi from 'strip-ansi'
import { useInstallDiff, useInstallLogs, type Install, type Language } from '../../api/queries/dependencies.ts'
import { Field } from '../../parts/field.tsx'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { Scrollable } from '../../parts/scrollable.tsx'
import { Table } from '../../parts/table.tsx'
import type { PackageChange } from '../../rules/package-lists.ts'
import { useView } from '../../shell/view.ts'
import { Kind } from './package-list.tsx'

interface Props {
  team: string
  language: Language
  install: Install
  all: readonly Install[]
}

/** The log of an installation as it comes, the versions that it brought, and how these differ from another's. */
export function InstallDetails({ team, language, install, all }: Props) {
  const view = useView()
  const others = all.filter(({ id, status }) => id !== install.id && status === 'INSTALLED')
  const to = view.get('to')
  const resolved = Object.entries(install.resolved)
  return (
    <div className={layout.stack}>
      <InstallLog {...{ team, language, install }} />
      {install.status === 'INSTALLED' && (
        <div className={layout.tight}>
          {others.length > 0 && (
            <div style={{ maxWidth: 320 }}>
              <Field label="Versions compared with">
                <select value={to} onChange={(event) => view.set({ install: install.id, to: event.target.value })}>
                  <option value="">nothing</option>
                  {others.map(({ id, startedAt, active }) => (
                    <option key={id} value={id}>
                      {new Date(startedAt).toLocaleString('en-GB')}
                      {active ? ' (active)' : ''}
                    </option>
                  ))}
                </select>
              </Field>
            </div>
          )}
          {to === '' ? (
            <details>
              <summary>
                {resolved.length === 1 ? '1 version was installed' : `${resolved.length} versions were installed`}
              </summary>
              <pre className={layout.log}>{resolved.map(([name, version]) => `${name} ${version}`).join('\n')}</pre>
            </details>
          ) : (
            <Differences {...{ team, language, to }} id={install.id} />
          )}
        </div>
      )}
    </div>
  )
}

function InstallLog({ team, language, install }: Omit<Props, 'all'>) {
  const logs = useInstallLogs(team, language, install)
  const end = useRef<HTMLPreElement>(null)
  const lines = logs.data?.data.length
  useEffect(() => {
    if (end.current) end.current.scrollTop = end.current.scrollHeight
  }, [lines])
  return (
    <Answer of={logs} what="log">
      {({ data }) => (
        <Scrollable ref={end} className={layout.log} label="Log of the installation">
          {data.length === 0 ? 'No output yet.' : data.map(({ message }) => stripAnsi(message)).join('\n')}
        </Scrollable>
      )}
    </Answer>
  )
}

function Differences({ team, language, id, to }: { team: string; language: Language; id: string; to: string }) {
  const diff = useInstallDiff(team, language, id, to)
  return (
    <Answer of={diff} what="differences">
      {({ added, removed, changed }) => {
        const rows: PackageChange[] = [
          ...Object.entries(added).map(([name, version]) => ({ name, kind: 'added' as const, to: version })),
          ...Object.entries(removed).map(([name, version]) => ({ name, kind: 'removed' as const, from: version })),
          ...Object.entries(changed).map(([name, [from, next]]) => ({
            name,
            kind: 'changed' as const,
            from,
            to: next,
          })),
        ].toSorted((a, b) => a.name.localeCompare(b.name))
        if (rows.length === 0) return <p>Both have the same versions.</p>
        return (
          <Table
            caption="Differences"
            rows={rows}
            keyOf={({ name }) => name}
            columns={[
              { name: 'Package', isMain: true, cell: ({ name }) => <code>{name}</code> },
              { name: 'This', cell: (one) => one.from ?? '–' },
              { name: 'The other', cell: (one) => one.to ?? '–' },
              { name: 'Change', cell: ({ kind }) => <Kind of={kind} /> },
            ]}
          />
        )
      }}
    </Answer>
  )
}
