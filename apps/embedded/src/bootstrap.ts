import { randomBytes, randomInt } from 'node:crypto'
import { join } from 'node:path'
import { operatorContext } from '@automation/admin/operator-context'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TokenService } from '@automation/contract/catalog/v1/token'
import { Failure } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import { keepSecret, readSecret } from './secret-file.ts'

/** What the banner says about the first team's API token. */
export interface Bootstrap {
  team: string
  /** The API token where it was generated just now: it is shown this once. */
  freshToken?: string
  /** Where the token is kept; absent when the kept one is revoked or of another team. */
  tokenFile?: string
}

interface Wanted {
  dataDir: string
  team: string
  /** From the configuration; generated at the first start when absent. */
  apiToken?: string
}

/**
 * Makes the first team and its API token where they are missing. The token is on disk before it counts, so a start that
 * is cut off here is made good by the next one; a revoked one stays revoked.
 */
export async function bootstrap(neighbours: Pick<Neighbours, 'client'>, wanted: Wanted): Promise<Bootstrap> {
  const { team } = wanted
  const tokenFile = join(wanted.dataDir, 'bootstrap-token')
  await ensureTeam(neighbours, team)
  const kept = readSecret(tokenFile)
  if (wanted.apiToken === undefined && kept !== undefined && !isTokenOf(team, kept)) return { team }
  const apiToken = wanted.apiToken ?? kept ?? generatedToken(team)
  if (apiToken !== kept) keepSecret(tokenFile, apiToken)
  const state = await ensureToken(neighbours, team, apiToken)
  if (state === 'revoked') return { team }
  const generated = wanted.apiToken === undefined && kept === undefined
  return { team, tokenFile, freshToken: generated ? apiToken : undefined }
}

async function ensureTeam(neighbours: Pick<Neighbours, 'client'>, slug: string): Promise<void> {
  try {
    await neighbours.client(TeamService).createTeam({ slug }, operatorContext())
  } catch (error) {
    if (!(error instanceof Failure && error.kind === 'already_exists')) throw error
  }
}

async function ensureToken(
  neighbours: Pick<Neighbours, 'client'>,
  team: string,
  apiToken: string,
): Promise<'valid' | 'revoked'> {
  const client = neighbours.client(TokenService)
  const clientId = clientIdOf(apiToken)
  const { tokens } = await client.listApiTokens({ team }, operatorContext())
  const known = tokens.find((token) => token.clientId === clientId)
  // Offered once more where it was made by a build that knew no scopes: then it is given admin.
  if (known === undefined || (known.revokedAt === undefined && !known.scopes.includes('admin')))
    await client.createApiToken({ team, name: 'bootstrap', apiToken }, operatorContext())
  return known?.revokedAt === undefined ? 'valid' : 'revoked'
}

function generatedToken(team: string): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
  const word = Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('')
  return `sk-${Buffer.from(`sa-${team}-${word}:${randomBytes(32).toString('base64url')}`).toString('base64')}`
}

function isTokenOf(team: string, apiToken: string): boolean {
  return new RegExp(`^sa-${team}-[a-z0-9]{8}$`).test(clientIdOf(apiToken))
}

/** The client id in a token; empty when the token is malformed. */
export function clientIdOf(apiToken: string): string {
  const [clientId = '', secret = ''] = Buffer.from(apiToken.replace(/^sk-/, ''), 'base64').toString('utf8').split(':')
  return secret === '' ? '' : clientId
}
