import { Client } from '@automation/client'
import { inject } from 'vitest'

/** A team of a test file's own on a system that runs. */
export interface OwnTeam {
  host: string
  team: string
  apiToken: string
  client: Client
}

/** Makes one on the system that all files share. */
export async function ownTeam(name: string): Promise<OwnTeam> {
  const answer = await fetch(`${inject('teamsUrl')}/${name}`)
  const made = (await answer.json()) as { host: string; team: string; apiToken: string; error?: string }
  if (made.error !== undefined) throw new Error(`There is no team ${name}: ${made.error}`)
  const { host, team, apiToken } = made
  return { host, team, apiToken, client: new Client({ url: host, team, token: apiToken }) }
}
