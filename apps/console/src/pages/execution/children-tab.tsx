import { Link } from '@tanstack/react-router'
import { useChildren } from '../../api/queries/executions.ts'
import { Button } from '../../parts/button.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Status } from '../../parts/status.tsx'
import { Table } from '../../parts/table.tsx'
import { duration, Time, useNow } from '../../parts/time.tsx'
import { ranMs } from '../../rules/executions.ts'

/** The executions that the code of an execution has started. */
export function ChildrenTab({ team, id }: { team: string; id: string }) {
  const children = useChildren(team, id)
  const now = useNow()
  return (
    <Answer of={children} what="children">
      {({ pages }) => {
        const rows = pages.flatMap(({ data }) => data)
        if (rows.length === 0) return <Empty title="It has started no other executions" />
        return (
          <>
            <Table
              caption="Executions that it has started"
              rows={rows}
              keyOf={(row) => row.id}
              columns={[
                { name: 'Status', cell: ({ status }) => <Status of={status} /> },
                {
                  name: 'Process',
                  isMain: true,
                  cell: (row) => (
                    <Link to="/t/$team/executions/$executionId" params={{ team, executionId: row.id }}>
                      {row.processName}
                    </Link>
                  ),
                },
                { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
                {
                  name: 'Ran for',
                  align: 'end',
                  cell: (row) => {
                    const ran = ranMs(row, now)
                    return ran === undefined ? '–' : duration(ran)
                  },
                },
              ]}
            />
            {children.hasNextPage && (
              <Button isBusy={children.isFetchingNextPage} onClick={() => void children.fetchNextPage()}>
                More
              </Button>
            )}
          </>
        )
      }}
    </Answer>
  )
}
