import type { Command } from 'commander'
import { aloneWithCredentials, removeCredential } from '../context/credentials.ts'
import { examples } from '../output/examples.ts'
import type { Runtime } from '../runtime.ts'

/** `pas logout`. */
export function register(program: Command, runtime: Runtime): void {
  examples(
    program
      .command('logout')
      .description('Forget the token of the context. The token itself lives on: "pas tokens revoke" ends it.')
      .action(async () => {
        const target = await runtime.target()
        const wasThere = await aloneWithCredentials(runtime.env, () => removeCredential(runtime.env, target))
        const { out } = runtime
        out.done(
          { url: target.url, team: target.team, removed: wasThere },
          wasThere ? `The token of ${target.team} at ${target.url} is forgotten.` : 'No token was stored.',
        )
      }),
    'pas logout',
    'pas logout --context staging',
  )
}
