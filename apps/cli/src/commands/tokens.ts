import type { ServiceAccount } from '@automation/client'
import type { Command } from 'commander'
import { doEach } from '../do-each.ts'
import { several, timeOrFromNow } from '../options/duration.ts'
import { examples } from '../output/examples.ts'
import { ExitError, exitCodes, requireYes, usageError, type Runtime } from '../runtime.ts'

const scopeTexts: Readonly<Record<string, string>> = {
  read: 'read everything but credentials',
  run: 'start, repeat and kill runs',
  build: 'create, change and delete what the team has; use sandboxes',
  admin: 'make and end tokens',
  executor: 'everything but admin',
  'mcp:tools': 'MCP: call the processes that are tools',
  'mcp:read': 'MCP: tools that read',
  'mcp:run': 'MCP: tools that start runs',
  'mcp:build': 'MCP: tools that create, change and delete',
}

/** `pas tokens`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const tokens = program
    .command('tokens')
    .description('Service accounts of the team, each with an API token. Needs the scope admin.')
  examples(tokens, 'pas tokens list', 'pas tokens create ci --scopes read,run,build')

  examples(
    tokens
      .command('list')
      .description('List the tokens with their scopes and last use; never themselves.')
      .action(list),
    'pas tokens list',
  )
  examples(
    tokens
      .command('create')
      .argument('<name>')
      .description('Make an API token. It goes to stdout, this once; what it may do is told on stderr.')
      .option('--scopes <scopes>', `of ${Object.keys(scopeTexts).join(', ')}; executor where absent`, several)
      .option('--expires <duration|time>', 'after so long, such as 90d, or at a time', timeOrFromNow)
      .action(create),
    'pas tokens create ci --scopes read,run,build --expires 90d > token.txt',
    'pas tokens create assistant --scopes mcp:tools',
  )
  examples(
    tokens
      .command('revoke')
      .argument('<id|client-id|name...>')
      .description('End tokens: no access token can be had for them any more.')
      .action(revoke),
    'pas tokens revoke sa-demo-pc4lpas4',
  )

  async function list(): Promise<void> {
    out.data(await (await runtime.client()).auth.serviceAccounts().toArray(), {
      table: [
        { title: 'client id', of: ({ clientId }) => clientId },
        { title: 'name', of: ({ name }) => name },
        { title: 'scopes', of: ({ scopes }) => scopes.join(',') },
        { title: 'expires', of: ({ expiresAt }) => expiresAt },
        { title: 'last used', of: ({ lastUsedAt }) => lastUsedAt },
      ],
      empty: 'There are no tokens.',
    })
  }

  async function create(name: string, options: { scopes?: string[]; expires?: string }): Promise<void> {
    const body = { name, scopes: options.scopes as ServiceAccount['scopes'], expiresAt: options.expires }
    const client = await runtime.client()
    const data = await client.auth.createServiceAccount(body)
    if (out.json) return out.data(data)
    out.say(`The token ${data.clientId} may:`)
    for (const scope of data.scopes) out.say(`  ${scope.padEnd(10)} ${scopeTexts[scope] ?? ''}`)
    out.say('It is shown this once. Keep it where only those can read it who may use it.')
    out.data(data.apiToken)
  }

  async function revoke(names: string[]): Promise<void> {
    const client = await runtime.client()
    const all = await client.auth.serviceAccounts().toArray()
    const found = names.map((name) => accountOf(all, name))
    const nameOf = (one: ServiceAccount) => `${one.name} (${one.clientId})`
    await requireYes(runtime, `Revoke ${found.map(nameOf).join(', ')}?`, 'Nothing was revoked.')
    await doEach(runtime, found, {
      nameOf,
      work: ({ id }) => client.auth.deleteServiceAccount(id),
      rowOf: ({ id, clientId }, revoked) => ({ id, clientId, revoked }),
      wordsOf: (revoked) => `Revoked: ${revoked.join(', ')}. Access tokens that it has live to their own end.`,
    })
  }
}

function accountOf(all: readonly ServiceAccount[], name: string): ServiceAccount {
  const found = all.filter((one) => one.id === name || one.clientId === name || one.name === name)
  if (found.length > 1)
    throw usageError(
      `Several tokens are named ${name}: give the client id. ${found.map((one) => one.clientId).join(', ')}`,
    )
  if (found[0] === undefined)
    throw new ExitError(exitCodes.refused, `There is no token ${name}. "pas tokens list" shows them.`)
  return found[0]
}
