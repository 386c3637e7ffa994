import type { Command } from 'commander'
import { TokenService } from '@automation/contract/catalog/v1/token'
import { acts, group, leaf, time, type Perform } from './command-parts.ts'
import { operatorContext } from './operator-context.ts'

/** The commands for API tokens of teams. */
export function addApiTokens(program: Command, perform: Perform): void {
  const tokens = group(program, 'tokens', 'API tokens of teams')
  leaf(tokens, 'create <team>', 'make an API token; it is shown this once')
    .option('--name <name>', 'what createdBy shows for it')
    .option('--scopes <words>', 'what it may give, with commas between: executor where it is not said', '')
    .action(
      acts(perform, async (target, team: string, { name, scopes }: { name?: string; scopes: string }) => {
        const { apiToken, record } = await target
          .client(TokenService)
          .createApiToken({ team, name, scopes: scopes.split(',').filter(Boolean) }, operatorContext())
        const { clientId, name: shown, scopes: given } = record ?? {}
        return { json: { apiToken, clientId, team, name: shown, scopes: given }, text: apiToken }
      }),
    )
  leaf(tokens, 'list <team>', 'the API tokens of a team, without their secrets').action(
    acts(perform, async (target, team: string) => {
      const { tokens: found } = await target.client(TokenService).listApiTokens({ team }, operatorContext())
      const records = found.map(({ clientId, name, scopes, createdAt, revokedAt, expiresAt, lastUsedAt }) => ({
        clientId,
        team,
        name,
        scopes,
        createdAt: time(createdAt),
        revokedAt: time(revokedAt),
        expiresAt: time(expiresAt),
        lastUsedAt: time(lastUsedAt),
      }))
      const rows = records.map((token) => [
        token.clientId,
        token.name ?? '-',
        token.scopes.join(' '),
        token.createdAt,
        token.expiresAt ?? '-',
        token.lastUsedAt ?? '-',
        token.revokedAt ?? '-',
      ])
      return {
        json: records,
        table: { head: ['CLIENT ID', 'NAME', 'SCOPES', 'CREATED', 'ENDS', 'LAST USED', 'REVOKED'], rows },
      }
    }),
  )
  leaf(tokens, 'revoke <client-id>', 'no access token can be had for it any more')
    .option('--at-once', 'also end the access tokens that it was exchanged for, within 5 s')
    .action(
      acts(perform, async (target, clientId: string, { atOnce = false }: { atOnce?: boolean }) => {
        await target.client(TokenService).revokeApiToken({ clientId, atOnce }, operatorContext())
        const rest = atOnce ? ', and so are its access tokens' : '; its access tokens are valid until they expire'
        return { json: { clientId, revoked: true, atOnce }, text: `API token ${clientId} is revoked${rest}.` }
      }),
    )
  addEndAccess(tokens, perform)
}

function addEndAccess(tokens: Command, perform: Perform): void {
  leaf(
    tokens,
    'end-access <team>',
    'end all access tokens of a team that were issued until now, its sessions of the console, and what teams inherit from it because a token named it, within 5 s',
  ).action(
    acts(perform, async (target, team: string) => {
      await target.client(TokenService).endTeamAccess({ team }, operatorContext())
      const text = `Access tokens of ${team} that were issued until now are valid no more. Its API tokens are: revoke those that have leaked. Teams that named it as a parent by a token inherit nothing more: teams grant-parent for those that should.`
      return { json: { team, ended: true }, text }
    }),
  )
}
