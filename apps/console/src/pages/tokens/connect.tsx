import { CopyButton } from '../../parts/copy-button.tsx'
import { Card } from '../../parts/page.tsx'
import layout from '../../parts/layout.module.css'
import { useSession } from '../../session/session-context.ts'

/** What a token connects beside programs: an assistant, and the command line. */
export function Connect({ team }: { team: string }) {
  const { apiUrl } = useSession()
  const tools = `${apiUrl}/api/${encodeURIComponent(team)}/mcp`
  const login = `pas login ${apiUrl} --team ${team}`
  return (
    <Card title="Connect">
      <Line name="An assistant (MCP)" text={tools} what="the address" note="by a token with mcp:tools" />
      <Line name="The command line" text={login} what="the command" note="asks for an API token" />
    </Card>
  )
}

function Line({ name, text, what, note }: { name: string; text: string; what: string; note: string }) {
  return (
    <p className={layout.row}>
      {name} <code className={layout.wraps}>{text}</code>
      <CopyButton text={text} what={what} />
      <span className={layout.soft}>{note}</span>
    </p>
  )
}
