import { restCurl, type RestCall } from '../rules/as-curl.ts'
import { useSession } from '../session/session-context.ts'
import { CodeBlock } from './code-block.tsx'
import styles from './curl-hint.module.css'

/** How that which a page has none of is made by curl. */
export function CurlHint({ team, ...call }: RestCall & { team: string }) {
  const { apiUrl } = useSession()
  return (
    <details className={styles.hint}>
      <summary>By curl</summary>
      <CodeBlock label="call" text={restCurl(apiUrl, team, call)} />
    </details>
  )
}
