import { text as textOf } from 'node:stream/consumers'
import type { Command } from 'commander'
import { chooseTarget, normalUrl, type Target } from '../context/choose-target.ts'
import { changeContexts, readContexts } from '../context/contexts.ts'
import { aloneWithCredentials, refuseOpenWay, writeCredential, type Credential } from '../context/credentials.ts'
import type { DeviceCode } from '../context/device-flow.ts'
import { elsewhere } from '../context/usual-target.ts'
import { examples } from '../output/examples.ts'
import { oneLine } from '../output/plain-text.ts'
import { ExitError, exitCodes, usageError, type Runtime } from '../runtime.ts'

interface LoginOptions {
  tokenStdin?: boolean
  device?: boolean
  keyring?: boolean
  clientId: string
  scope: string
}

/** `pas login`. */
export function register(program: Command, runtime: Runtime): void {
  examples(
    program
      .command('login')
      .argument('[url]', 'address of the service')
      .description(
        `Sign in to a team, and make it the context of later commands.

The API token is asked for, or comes by --token-stdin; it is never an argument. It is kept in a file that you alone can read, with --keyring encrypted under a key that the keyring of your system keeps.`,
      )
      .option('--token-stdin', 'read the API token from stdin')
      .option('--device', 'sign in at the issuer of your organisation, in a browser on any device')
      .option('--keyring', 'encrypt what is stored under a key of the keyring of this system')
      .option('--client-id <id>', 'the client that the issuer knows this program as', 'pas')
      .option('--scope <scopes>', 'what to ask the issuer for', 'openid profile offline_access')
      .action(login),
    'pas login https://automation.example.com --team demo',
    'pas login http://localhost:8080 --team demo --token-stdin < .data/bootstrap-token',
    'pas login https://automation.example.com --team demo --device --keyring',
  )

  async function login(url: string | undefined, options: LoginOptions): Promise<void> {
    const target = await targetOf(url)
    refuseOpenWay(target.url)
    if (options.device && options.tokenStdin) throw usageError('Give --device or --token-stdin, not both.')
    const credential = options.device ? await byDevice(target, options) : await byToken(target, options)
    const token = credential.kind === 'apiToken' ? credential.apiToken : credential.accessToken
    const client = await runtime.client({ target, token })
    const team = await client.team.get().catch((error: Error & { status?: number }) => {
      throw options.device && error.status === 403 ? noMember(target, error) : error
    })
    await aloneWithCredentials(runtime.env, () =>
      writeCredential(runtime.env, target, credential, { keyring: options.keyring ?? false }),
    )
    const context = await makeCurrent(target)
    runtime.out.done(
      { url: target.url, team: target.team, context, name: team.name },
      `Signed in to the team ${oneLine(team.name)} (${target.team}) at ${target.url}, context ${context}.`,
    )
    const words = await elsewhere(runtime, context, target)
    if (words !== undefined && !runtime.out.json) runtime.out.say(words)
  }

  async function targetOf(url: string | undefined): Promise<Target> {
    const { team } = runtime.flags
    if (url !== undefined && team === undefined) throw usageError('Say which team: pas login URL --team TEAM')
    if (url !== undefined && team !== undefined) return { url: normalUrl(url), team, context: runtime.flags.context }
    const [project, stored] = await Promise.all([runtime.project(), readContexts(runtime.env)])
    return chooseTarget({ flags: runtime.flags, env: runtime.env, project, stored })
  }

  async function byToken(target: Target, { tokenStdin }: LoginOptions): Promise<Credential> {
    const instead = `Give the API token by stdin: pas login ${target.url} --team ${target.team} --token-stdin < FILE`
    const text = tokenStdin
      ? await textOf(runtime.stdin)
      : await runtime.askSecret(`API token of the team ${target.team}`, instead)
    const apiToken = text.trim()
    if (apiToken === '') throw usageError(`The API token is empty. ${instead}`)
    return { kind: 'apiToken', apiToken }
  }

  async function byDevice(target: Target, { clientId, scope }: LoginOptions): Promise<Credential> {
    const { signInByDevice } = await import('../context/device-flow.ts')
    const show = ({ address, code, wholeAddress }: DeviceCode) => {
      runtime.out.say(`Open ${oneLine(wholeAddress ?? address)} and confirm the code ${oneLine(code)}.`)
    }
    return signInByDevice(target, { clientId, scope, show })
  }

  /** Makes the target the current context; one that names it already keeps its name. */
  async function makeCurrent(target: Target): Promise<string> {
    const { url, team } = target
    let name = ''
    await changeContexts(runtime.env, ({ contexts }) => {
      const known = Object.entries(contexts).find(([, one]) => one.url === url && one.team === team)?.[0]
      name = target.context ?? known ?? freeName(target, contexts)
      return { current: name, contexts: { ...contexts, [name]: { url, team } } }
    })
    return name
  }
}

function noMember({ url, team }: Target, cause: Error): ExitError {
  return new ExitError(
    exitCodes.login,
    `The issuer has signed you in, and its token is not for the team ${team} at ${url}. Ask the operator to make you a member: groups of the token name teams, and OIDC_SCOPES says what they may do.`,
    { cause },
  )
}

/** The team's slug, with the host where another context has that name. */
function freeName({ url, team }: Target, contexts: Record<string, unknown>): string {
  return team in contexts ? `${team}@${new URL(url).host}` : team
}
