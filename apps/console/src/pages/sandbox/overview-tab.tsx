import { useState } from 'react'
import { hasEnded, useExtendSandbox, type Sandbox } from '../../api/queries/sandboxes.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { Card } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import { TIMEOUTS } from '../sandboxes/timeouts.ts'

/** What a sandbox is, until when, and where its servers answer. */
export function OverviewTab({ team, sandbox }: { team: string; sandbox: Sandbox }) {
  const { id, imageId, reason, createdAt, createdBy, timeoutAt, metadata, publicUrls, grpcServerUrl } = sandbox
  const ports = Object.entries(publicUrls)
  return (
    <div className={layout.columns}>
      <Card title="Sandbox">
        <dl className={layout.facts}>
          {reason && (
            <>
              <dt>Why it ended</dt>
              <dd>{reason}</dd>
            </>
          )}
          <dt>Id</dt>
          <dd>
            <code>{id}</code>
          </dd>
          <dt>Image</dt>
          <dd>
            <code>{imageId}</code>
          </dd>
          <dt>Created</dt>
          <dd>
            <Time at={createdAt} /> by {createdBy}
          </dd>
          <dt>gRPC</dt>
          <dd>
            <code>{grpcServerUrl}</code>
          </dd>
          {Object.entries(metadata).map(([key, value]) => (
            <Fact key={key} name={key} value={value} />
          ))}
        </dl>
      </Card>
      {!hasEnded(sandbox) && (
        <Card title="Deadline">
          <p>
            It ends <Time at={timeoutAt} />, at {new Date(timeoutAt).toLocaleTimeString('en-GB')}.
          </p>
          <Extend team={team} id={id} />
        </Card>
      )}
      {ports.length > 0 && (
        <Card title="Public addresses">
          <dl className={layout.facts}>
            {ports.map(([port, url]) => (
              <PublicAddress key={port} port={port} url={url} />
            ))}
          </dl>
        </Card>
      )}
    </div>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  )
}

function PublicAddress({ port, url }: { port: string; url: string }) {
  return (
    <>
      <dt>Port {port}</dt>
      <dd>
        <a href={url} target="_blank" rel="noreferrer">
          {url}
        </a>
      </dd>
    </>
  )
}

function Extend({ team, id }: { team: string; id: string }) {
  const [timeout, setTimeout] = useState<string>(String(TIMEOUTS[1].ms))
  const extension = useExtendSandbox(team, id)
  const say = useToast()
  const mayBuild = useMay('build')
  return (
    <form
      className={layout.tight}
      onSubmit={(event) => {
        event.preventDefault()
        extension.mutate(Number(timeout), { onSuccess: () => say('The deadline is moved') })
      }}
    >
      <div className={`${layout.row} ${layout.bottom}`}>
        <Field label="From now on">
          <select value={timeout} onChange={(event) => setTimeout(event.target.value)}>
            {TIMEOUTS.map(({ ms, words }) => (
              <option key={ms} value={ms}>
                {words}
              </option>
            ))}
          </select>
        </Field>
        <Button
          type="submit"
          isBusy={extension.isPending}
          disabled={!mayBuild}
          title={mayBuild ? undefined : 'Needs the scope build'}
        >
          Move the deadline
        </Button>
      </div>
      <FormFault error={extension.error} />
    </form>
  )
}
