import { useState } from 'react'
import type { Process } from '../../../api/queries/processes.ts'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/page.tsx'
import { useCopy } from '../../../parts/use-copy.ts'
import { useKeys } from '../../../parts/use-keys.ts'
import { sampleParameters } from '../../../rules/sample-of.ts'
import { asyncCurl, plainCurl, signatureCheck, signedCurl } from '../../../rules/webhook-examples.ts'
import { schemeNames, schemes, type SchemeName } from '../../../rules/webhook-schemes.ts'
import { useSession } from '../../../session/session-context.ts'
import { CodeBlock } from '../../../parts/code-block.tsx'
import styles from '../tab.module.css'

type Kind = 'wait' | 'at-once' | SchemeName

const kinds: [Kind, string][] = [
  ['wait', 'Wait for the answer'],
  ['at-once', 'Answer at once'],
  ...schemeNames.map((name): [Kind, string] => [name, schemes[name].name]),
]

const isSigned = (kind: Kind): kind is SchemeName => kind in schemes

interface Props {
  process: Process
  url: string
  /** As it was typed; an example where absent. */
  body: string | undefined
}

/** How the webhook is called by curl, also with the signatures of known senders, and the code that checks these. */
export function WebhookExamples({ process, url, body }: Props) {
  const [kind, setKind] = useState<Kind>('wait')
  const { headerPrefix } = useSession()
  const copy = useCopy()
  const target = {
    url,
    body: body ?? JSON.stringify(sampleParameters(process.parametersSchema)),
    username: process.webhook.username,
  }
  const call = isSigned(kind)
    ? signedCurl(target, schemes[kind])
    : kind === 'wait'
      ? plainCurl(target)
      : asyncCurl(target, headerPrefix)
  useKeys({ y: () => copy(call, 'The call is copied') })
  return (
    <Card title="Call it">
      <div className={styles.pills} role="group" aria-label="Kind of call">
        {kinds.map(([each, name]) => (
          <Button key={each} aria-pressed={each === kind} onClick={() => setKind(each)}>
            {name}
          </Button>
        ))}
      </div>
      {isSigned(kind) ? (
        <>
          <CodeBlock label="signed call" text={call} />
          <p className={styles.soft}>
            Calls are not refused for a wrong signature unless the code checks it. At the top of the process:
          </p>
          <CodeBlock
            label="check of the signature"
            text={signatureCheck(schemes[kind], 'WEBHOOK_SECRET', process.programmingLanguage)}
          />
        </>
      ) : (
        <CodeBlock label="call" text={call} />
      )}
    </Card>
  )
}
