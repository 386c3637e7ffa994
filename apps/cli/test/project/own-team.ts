import { Client } from '@automation/client'
import { inject } from 'vitest'

/** A team of a test file's own on a system that runs. */
export interface OwnTeam {
  host: string
  team: string
  apiToken: string
  client: Client
  /** Behind the last test that needs it. */
  leave(): Promise<void>
}

/** Makes one on the system that all files share, which ends some time after all teams were left. */
export async function ownTeam(name: string): Promise<OwnTeam> {
  const url = `${inject('teamsUrl')}/${name}`
  const answer = await fetch(url)
  const made = (await answer.json()) as { host: string; team: string; apiToken: string; error?: string }
  if (made.error !== undefined) throw new Error(`There is no team ${name}: ${made.error}`)
  const { host, team, apiToken } = made
  const leave = async () => void (await fetch(url, { method: 'DELETE' }))
  return { host, team, apiToken, client: new Client({ url: host, team, token: apiToken }), leave }
}
