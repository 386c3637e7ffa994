import { useState } from 'react'
import { useChangeProcess } from '../../../api/queries/process-settings.ts'
import type { ProcessRecord } from '../../../api/queries/processes.ts'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { Card } from '../../../parts/page.tsx'
import { useMay, useSession } from '../../../session/session-context.ts'
import { CodeBlock } from '../../../parts/code-block.tsx'
import styles from '../tab.module.css'

interface Props {
  team: string
  slug: string
  record: ProcessRecord
}

/** Where the form of a process is: its address, or the link for people without an account, and another one in its place. */
export function FormLink({ team, slug, record: { process, etag } }: Props) {
  const mayBuild = useMay('build')
  const [asks, setAsks] = useState(false)
  const { apiUrl } = useSession()
  const change = useChangeProcess(team, slug)
  const { formsConfig, publicConfig } = process.settings
  if (!formsConfig.enabled) return null
  const { token } = publicConfig
  const isOpen = publicConfig.enabled && token !== undefined
  const place = `${encodeURIComponent(team)}/${encodeURIComponent(process.slug)}`
  const query = isOpen ? `?token=${encodeURIComponent(token)}` : ''
  return (
    <Card title="Addresses of the form">
      <CodeBlock
        label={isOpen ? 'link of the form' : 'page of the form'}
        text={`${window.location.origin}/forms/${place}${query}`}
      />
      <p className={styles.soft}>For programs, as JSON:</p>
      <CodeBlock
        label="address for programs"
        text={`${apiUrl}/api/${encodeURIComponent(team)}/forms/${encodeURIComponent(process.slug)}${query}`}
      />
      {isOpen && (
        <p className={styles.row}>
          {mayBuild && <Button onClick={() => setAsks(true)}>Make another link</Button>}
          <span className={styles.soft}>Whoever has this one can submit the form.</span>
        </p>
      )}
      <Confirm
        title="Make another link?"
        isOpen={asks}
        onClose={() => setAsks(false)}
        verb="Make another"
        isBusy={change.isPending}
        error={change.error}
        onConfirm={() =>
          change.mutate(
            { input: { settings: { publicConfig: { token: null } } }, etag },
            { onSuccess: () => setAsks(false) },
          )
        }
      >
        The link that people have now opens nothing any more.
      </Confirm>
    </Card>
  )
}
