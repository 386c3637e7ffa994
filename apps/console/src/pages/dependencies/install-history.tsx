import { useInstalls, useRollback, type Install, type Language } from '../../api/queries/dependencies.ts'
import { Button } from '../../parts/button.tsx'
import { FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Card } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { Table } from '../../parts/table.tsx'
import { duration, Time } from '../../parts/time.tsx'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import { useView } from '../../shell/view.ts'
import { InstallDetails } from './install-details.tsx'
import { NEWEST } from './newest.ts'

/** The last installations; one of them is open with its log and its versions. */
export function InstallHistory({ team, language }: { team: string; language: Language }) {
  const installs = useInstalls(team, language)
  const rollback = useRollback(team, language)
  const mayBuild = useMay('build')
  const view = useView()
  const say = useToast()
  return (
    <Card title="Installations">
      <Answer of={installs} what="installations">
        {({ data }) => {
          const asked = view.get('install')
          const shown = asked === NEWEST ? data[0] : (data.find(({ id }) => id === asked) ?? data.find(isGoingOn))
          return data.length === 0 ? (
            <Empty title="Nothing was installed yet">
              Each installation stays here with its log, and as a way back.
            </Empty>
          ) : (
            <div className={layout.stack}>
              <FormFault error={rollback.error} />
              {shown && <InstallDetails key={shown.id} {...{ team, language, all: data }} install={shown} />}
              <Table
                caption="Installations"
                rows={data}
                keyOf={({ id }) => id}
                chosen={shown?.id}
                columns={[
                  {
                    name: 'Started',
                    isMain: true,
                    cell: ({ id, startedAt }) => (
                      <button
                        type="button"
                        className={layout.linkish}
                        onClick={() => view.set({ install: id, to: '' })}
                      >
                        <Time at={startedAt} />
                      </button>
                    ),
                  },
                  {
                    name: 'Status',
                    cell: ({ status, active }) => <Status of={active ? 'ACTIVE' : status} />,
                  },
                  { name: 'Took', align: 'end', cell: (one) => took(one) },
                  { name: 'Packages', align: 'end', cell: ({ requested }) => Object.keys(requested).length },
                  {
                    name: 'Actions',
                    align: 'end',
                    cell: ({ id, status, active }) =>
                      status === 'INSTALLED' &&
                      !active && (
                        <Button
                          disabled={!mayBuild || rollback.isPending}
                          title={mayBuild ? 'Runs see these packages again' : 'Needs the scope build'}
                          onClick={() =>
                            rollback.mutate(id, {
                              onSuccess: () => say('Runs see the packages of that installation'),
                            })
                          }
                        >
                          Roll back
                        </Button>
                      ),
                  },
                ]}
              />
            </div>
          )
        }}
      </Answer>
    </Card>
  )
}

const isGoingOn = ({ status }: Install) => status === 'INSTALLING'

const took = ({ startedAt, endedAt }: Install) =>
  endedAt === undefined ? '–' : duration(Date.parse(endedAt) - Date.parse(startedAt))
