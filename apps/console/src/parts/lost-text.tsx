import { useSyncExternalStore } from 'react'
import { textOfThisPage } from '../session/kept-texts.ts'
import { useSession } from '../session/session-context.ts'
import { CodeBlock } from './code-block.tsx'
import { Card } from './page.tsx'

interface Props {
  team: string
  /** Under which the text is kept. */
  id: string
  /** What it was of: source. */
  what: string
}

const untold = () => () => undefined

/** The unsaved text of what is not there any more, to be copied elsewhere; nothing where there is none. */
export function LostText({ team, id, what }: Props) {
  const session = useSession()
  const person = session.clientId ?? session.name
  // The editor keeps the last words as it goes, and React looks again once it is gone.
  const text = useSyncExternalStore(untold, () => textOfThisPage(person, team, id)?.text)
  if (text === undefined) return null
  return (
    <Card title={`Your unsaved ${what}`}>
      <CodeBlock label={`unsaved ${what}`} text={text} />
    </Card>
  )
}
