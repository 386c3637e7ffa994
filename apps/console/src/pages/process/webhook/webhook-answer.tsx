import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import type { SentWebhook } from '../../../api/queries/webhook-lab.ts'
import { JsonView } from '../../../parts/json-view.tsx'
import { duration } from '../../../parts/time.tsx'
import { jsonOf } from '../../../rules/json-text.ts'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { StatusCode } from './status-code.tsx'
import styles from '../tab.module.css'

/** What a webhook has answered, and what was sent to it. */
export function WebhookAnswer({ team, sent }: { team: string; sent: SentWebhook }) {
  const { request, response, executionId, durationMs } = sent
  return (
    <section aria-label="Answer" className={styles.form}>
      <p className={styles.row} role="status">
        <StatusCode of={response.status} />
        <span className={styles.soft}>in {duration(durationMs)}</span>
        {executionId === undefined ? (
          <span className={styles.soft}>Nothing was started.</span>
        ) : (
          <Link to="/t/$team/executions/$executionId" params={{ team, executionId }}>
            Open its execution
          </Link>
        )}
      </p>
      {response.body === '' ? <p className={styles.soft}>The answer has no body.</p> : <Body of={response} />}
      <details className={styles.details}>
        <summary>Headers of the answer</summary>
        <Headers of={response.headers} />
      </details>
      <details className={styles.details}>
        <summary>
          What was sent: {request.method} {new URL(request.url).pathname}
        </summary>
        <div className={styles.form}>
          <Headers of={request.headers} />
          {request.body !== '' && <CodeBlock label="body of the request" text={textOf(request)} />}
        </div>
      </details>
    </section>
  )
}

function Headers({ of }: { of: Record<string, string | string[]> }) {
  return (
    <dl className={styles.pairs}>
      {Object.entries(of).map(([name, value]) => (
        <div key={name} className={styles.contents}>
          <dt>{name}</dt>
          <dd>{Array.isArray(value) ? value.join(', ') : value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** The body of an answer: a tree where it is JSON, else the text. Typing a further request draws it no second time. */
const Body = memo(function Body({ of }: { of: SentWebhook['response'] }) {
  const read = of.isBase64 ? undefined : jsonOf(of.body)
  if (read !== undefined && 'value' in read && typeof read.value === 'object')
    return <JsonView value={read.value} what="the body of the answer" />
  return <CodeBlock label="body of the answer" text={textOf(of)} />
})

const textOf = ({ body, isBase64 }: { body: string; isBase64?: boolean }): string =>
  isBase64 ? `${body}\n(bytes, in base64)` : body
