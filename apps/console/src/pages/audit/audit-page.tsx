import { useMutation } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { auditLines, auditTypes, useAuditEvents, type AuditEvent, type AuditFilters } from '../../api/queries/audit.ts'
import { useEntityNames } from '../../api/queries/entity-names.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import layout from '../../parts/layout.module.css'
import { Pages } from '../../parts/pages.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Page } from '../../parts/page.tsx'
import { saveAs } from '../../parts/save-as.ts'
import { Table } from '../../parts/table.tsx'
import { TimeRange } from '../../parts/time-range.tsx'
import { Time } from '../../parts/time.tsx'
import { useToast } from '../../shell/toasts.tsx'
import { useView, type View } from '../../shell/view.ts'
import { Entity } from './entity.tsx'

/** Who did what, newest first. */
export function AuditPage() {
  const { team } = useParams({ from: '/t/$team/audit' })
  const view = useView()
  const filters = filtersOf(view)
  const events = useAuditEvents(team, filters, Number(view.get('page')) || 0)
  const names = useEntityNames(team, events.data?.data.map(({ type }) => type) ?? [])
  const say = useToast()
  const download = useMutation({
    mutationFn: () => auditLines(team, filters),
    onSuccess: (lines) => saveAs(`audit-${team}.ndjson`, lines),
    onError: say,
  })
  return (
    <Page
      title="Audit"
      call={{ path: '/audit-events', query: { ...filters, page: view.get('page') } }}
      actions={
        <Button isBusy={download.isPending} onClick={() => download.mutate()}>
          <icons.download /> NDJSON
        </Button>
      }
    >
      <Filters view={view} />
      <Answer of={events} what="audit events">
        {(page) =>
          page.total === 0 ? (
            <Empty title="No event is so">Take a filter away, or a longer time.</Empty>
          ) : (
            <>
              <Table
                caption="Audit events"
                rows={page.data}
                keyOf={({ id }) => id}
                columns={columnsOf(team, names, view)}
              />
              <Pages {...page} onPage={(next) => view.set({ page: next === 0 ? '' : String(next) })} />
            </>
          )
        }
      </Answer>
    </Page>
  )
}

function filtersOf(view: View): AuditFilters {
  const type = auditTypes.find((one) => one === view.get('type'))
  const [entityId, from, to] = ['entity', 'from', 'to'].map((name) => view.get(name).trim())
  return { ...(type && { type }), ...(entityId && { entityId }), ...(from && { from }), ...(to && { to }) }
}

function Filters({ view }: { view: View }) {
  const isFiltered = ['type', 'entity', 'from', 'to'].some((name) => view.get(name) !== '')
  return (
    <div className={layout.row}>
      <select
        className={layout.filter}
        aria-label="Kind"
        value={view.get('type')}
        onChange={(event) => view.set({ type: event.target.value, page: '' })}
      >
        <option value="">All kinds</option>
        {auditTypes.map((type) => (
          <option key={type} value={type}>
            {wordOf(type)}
          </option>
        ))}
      </select>
      <FilterField name="entity" label="Id of what it was done to" />
      <TimeRange />
      {isFiltered && (
        <Button look="quiet" onClick={() => view.set({ type: '', entity: '', from: '', to: '', page: '' })}>
          Clear
        </Button>
      )}
    </div>
  )
}

const wordOf = (type: string) => type.charAt(0) + type.slice(1).toLowerCase()

const columnsOf = (team: string, names: ReadonlyMap<string, string>, view: View) => [
  { name: 'When', cell: ({ createdAt }: AuditEvent) => <Time at={createdAt} /> },
  {
    name: 'Who',
    cell: ({ user, initiatedBy }: AuditEvent) => (
      <span>
        {user}
        {initiatedBy && <span className={layout.soft}> for {initiatedBy}</span>}
      </span>
    ),
  },
  { name: 'Did', cell: ({ type, event }: AuditEvent) => `${wordOf(type)} ${event.toLowerCase().replaceAll('_', ' ')}` },
  {
    name: 'To',
    isMain: true,
    cell: (event: AuditEvent) => (
      <Entity
        team={team}
        event={event}
        name={names.get(event.entityId)}
        onFilter={() => view.set({ entity: event.entityId, page: '' })}
      />
    ),
  },
  { name: 'Address', cell: ({ ip }: AuditEvent) => ip ?? '–' },
]
