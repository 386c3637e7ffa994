import type { Command } from 'commander'
import { readIdentity } from '../context/identity.ts'
import { examples } from '../output/examples.ts'
import type { Runtime } from '../runtime.ts'

/** `pas whoami`. */
export function register(program: Command, runtime: Runtime): void {
  examples(
    program
      .command('whoami')
      .description('Show the team, the address, who is signed in, and the scopes: what the token may do.')
      .action(async () => {
        const { context } = await runtime.target()
        const client = await runtime.client()
        await client.team.get()
        const identity = { ...(await readIdentity(client)), context }
        const { url, team, subject, name, scopes } = identity
        runtime.out.data(identity, {
          text: [
            `team     ${team}`,
            `address  ${url}`,
            ...(context === undefined ? [] : [`context  ${context}`]),
            ...(subject === undefined ? [] : [`account  ${name === undefined ? subject : `${name} (${subject})`}`]),
            `scopes   ${scopes.join(' ') || 'not told by the token'}`,
          ].join('\n'),
        })
      }),
    'pas whoami',
    'pas whoami --json',
  )
}
