import { useLocation, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useChangeProcess } from '../../api/queries/process-settings.ts'
import { useProcessRecord, type ProcessRecord } from '../../api/queries/processes.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import { Card } from '../../parts/page.tsx'
import { Answer } from '../../parts/page-states.tsx'
import { Status } from '../../parts/status.tsx'
import { useMay, useSession } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import { CodeBlock } from '../../parts/code-block.tsx'
import { WebhookAccess } from './webhook/webhook-access.tsx'
import { WebhookDeliveries } from './webhook/webhook-deliveries.tsx'
import { WebhookExamples } from './webhook/webhook-examples.tsx'
import { WebhookLab } from './webhook/webhook-lab.tsx'
import styles from './tab.module.css'

/** The webhook of a process: its address, who may call it, how it is called, a request to try, and what has come. */
export function WebhookTab() {
  const { team, slug } = useParams({ from: '/t/$team/processes/$slug' })
  const record = useProcessRecord(team, slug)
  return (
    <Answer of={record} what="webhook">
      {(known) => <Webhook key={known.process.id} team={team} slug={slug} record={known} />}
    </Answer>
  )
}

function Webhook({ team, slug, record }: { team: string; slug: string; record: ProcessRecord }) {
  const { apiUrl } = useSession()
  const { process } = record
  const { key, call } = useLocation({ select: ({ state }) => state })
  const given = call?.kind === 'webhook' ? call.request : undefined
  const labKey = given && key
  const [typed, setTyped] = useState<{ in: string | undefined; body: string }>()
  const body = typed !== undefined && typed.in === labKey ? typed.body : given?.body
  const url = `${apiUrl}/api/${encodeURIComponent(team)}/webhooks/${encodeURIComponent(process.slug)}`
  return (
    <div className={styles.tab}>
      <Card
        title="Address"
        actions={
          <>
            <Status of={process.webhook.enabled ? 'ENABLED' : 'DISABLED'} />
            <EnabledSwitch team={team} slug={slug} record={record} />
          </>
        }
      >
        <CodeBlock text={url} label="address" />
        {!process.webhook.enabled && (
          <p className={styles.soft}>
            Who calls it gets 404, as if there were no such webhook. Enable it to take calls.
          </p>
        )}
      </Card>
      <div className={styles.pair}>
        <WebhookLab
          key={labKey}
          {...{ team, slug, process, given }}
          onBody={(text) => setTyped({ in: labKey, body: text })}
        />
        <div className={styles.tab}>
          <WebhookExamples process={process} url={url} body={body} />
          <WebhookAccess team={team} slug={slug} record={record} />
        </div>
      </div>
      <WebhookDeliveries team={team} slug={slug} />
    </div>
  )
}

function EnabledSwitch({
  team,
  slug,
  record: { process, etag },
}: {
  team: string
  slug: string
  record: ProcessRecord
}) {
  const mayBuild = useMay('build')
  const change = useChangeProcess(team, slug)
  const say = useToast()
  const { enabled } = process.webhook
  if (!mayBuild) return null
  return (
    <Button
      look={enabled ? 'plain' : 'primary'}
      isBusy={change.isPending}
      onClick={() =>
        change.mutate(
          { input: { webhook: { enabled: !enabled } }, etag },
          {
            onError: say,
            onSuccess: () => say(enabled ? 'The webhook takes no calls now' : 'The webhook takes calls now'),
          },
        )
      }
    >
      {enabled ? <icons.pause /> : <icons.play />}
      {enabled ? 'Disable' : 'Enable'}
    </Button>
  )
}
