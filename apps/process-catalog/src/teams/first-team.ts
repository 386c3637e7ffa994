import { Failure } from '@automation/errors'
import type { Environment, Logger } from '@automation/service'
import { isTeamSlug } from '@automation/contract/forms'
import { bootstrapScopes, isClientIdOf, readApiToken } from '../access/api-token.ts'
import { createApiToken } from '../store/api-tokens.ts'
import { systemOf } from '../store/audit.ts'
import type { Store } from '../store/store.ts'
import { createTeam } from '../store/teams.ts'

/** A team, and an API token of it, that are there from the first start on. */
export interface FirstTeam {
  team: string
  apiToken: string
}

/** Reads BOOTSTRAP_TEAM and BOOTSTRAP_API_TOKEN; undefined without a token. Faults are noted in `env`. */
export function readFirstTeam(env: Environment): FirstTeam | undefined {
  const team = env.text('BOOTSTRAP_TEAM', 'demo')
  const apiToken = env.secret('BOOTSTRAP_API_TOKEN')
  if (apiToken === undefined) return undefined
  if (!isTeamSlug(team)) env.fault('BOOTSTRAP_TEAM', 'must be 1 to 63 of a-z, 0-9 and inner hyphens')
  if (!isTokenOf(team, apiToken))
    env.fault(
      'BOOTSTRAP_API_TOKEN',
      `must be an API token of ${team}: sk- and base64 of sa-${team}-<8 of a-z, 0-9>:<secret>`,
    )
  return { team, apiToken }
}

function isTokenOf(team: string, apiToken: string): boolean {
  try {
    return isClientIdOf(team, readApiToken(apiToken).clientId)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return false
  }
}

/** Makes what is missing of it; a token that was revoked stays revoked. */
export async function ensureFirstTeam(store: Store, { team, apiToken }: FirstTeam, logger: Logger): Promise<void> {
  await unlessThere(createTeam(store, systemOf(team), ''))
  const isThere = await unlessThere(
    createApiToken(store, systemOf(team), { name: 'bootstrap', scopes: bootstrapScopes }, readApiToken(apiToken)),
  )
  if (!isThere) logger.warn({ team }, 'the first API token is revoked')
}

/** False where it could not be made because there is another one. */
async function unlessThere(making: Promise<unknown>): Promise<boolean> {
  try {
    await making
    return true
  } catch (error) {
    if (!(error instanceof Failure && error.kind === 'already_exists')) throw error
    return false
  }
}
