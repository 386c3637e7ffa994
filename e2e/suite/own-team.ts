import type { Client } from '../client/client.ts'
import { runAdmin } from '../system/system.ts'
import { clientOf } from './client-of.ts'
import { shared } from './shared-system.ts'

/** The folder of the suite's own system. */
export const dataDir = shared.own?.dataDir ?? ''

/** Runs the admin command line for the suite's system, with more of an environment where it is given. */
export function admin(args: string[], env: Record<string, string> = {}): ReturnType<typeof runAdmin> {
  return runAdmin(args, { ...shared.operator?.env, ...env })
}

/**
 * A team of a test file's own on a system of which the suite is operator, which is made where it is not there, with a token
 * of all scopes.
 */
export async function ownTeam(team: string): Promise<{ client: Client; apiToken: string }> {
  await admin(['teams', 'create', team])
  const { stdout, stderr } = await admin(['tokens', 'create', team, '--scopes', 'executor,admin'])
  const apiToken = stdout.trim()
  if (apiToken === '') throw new Error(`${team} has no token: ${stderr}`)
  return { client: await clientOf({ host: shared.host, team, apiToken }), apiToken }
}
