import { Link } from '@tanstack/react-router'
import type { Schemas } from '../api/client.ts'
import { Empty } from './page-states.tsx'
import { Table } from './table.tsx'

/** The processes and modules that use something. */
export function SourceUsers({ team, users, none }: { team: string; users: Schemas['SourceUser'][]; none: string }) {
  if (users.length === 0) return <Empty title={none} />
  return (
    <Table
      caption="Users"
      rows={users}
      keyOf={({ id, versionId }) => `${id} ${versionId ?? ''}`}
      columns={[
        {
          name: 'Name',
          isMain: true,
          cell: ({ type, id, name, slug }) =>
            type === 'PROCESS' ? (
              <Link to="/t/$team/processes/$slug/edit" params={{ team, slug: slug ?? id }}>
                {name}
              </Link>
            ) : (
              <Link to="/t/$team/modules/$moduleId" params={{ team, moduleId: id }}>
                {name}
              </Link>
            ),
        },
        { name: 'Kind', cell: ({ type }) => (type === 'PROCESS' ? 'Process' : 'Module') },
        { name: 'Version', cell: ({ tag, versionId }) => tag ?? (versionId ? 'a version' : 'current source') },
      ]}
    />
  )
}
