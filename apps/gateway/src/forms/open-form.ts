import { createHash, timingSafeEqual } from 'node:crypto'
import { ProcessService, type Process, type ProcessSettings } from '@automation/contract/catalog/v1/process'
import { VersionService } from '@automation/contract/catalog/v1/version'
import { isTeamSlug, linkTokenCharacters } from '@automation/contract/forms'
import { Failure, notFound } from '@automation/errors'
import type { CallContext, Client, Neighbours } from '@automation/rpc'
import type { TeamAddresses } from '../auth/team-addresses.ts'
import { type Call, linkToken } from '../rest/operation.ts'
import { MinuteLimits } from './minute-limits.ts'

/** Of one address, whatever its token opens: each reads the process. */
const LOOKS_A_MINUTE = 300

/** A call for a form; `slug` among the params names the process. */
type FormCall = Pick<Call<unknown, unknown>, 'team' | 'params' | 'exchange' | 'principal' | 'context'>

/** The forms of processes, and who may open them. */
export class Forms {
  readonly #processes: Client<typeof ProcessService>
  readonly #versions: Client<typeof VersionService>
  readonly #looks: MinuteLimits
  readonly #teams: Pick<TeamAddresses, 'isGone'>

  constructor(neighbours: Neighbours, teams: Pick<TeamAddresses, 'isGone'>, gateways: () => number) {
    this.#teams = teams
    this.#processes = neighbours.client(ProcessService)
    this.#versions = neighbours.client(VersionService)
    this.#looks = new MinuteLimits(LOOKS_A_MINUTE, gateways, (retryAfterS) => {
      const text = `A link opens a form ${LOOKS_A_MINUTE} times a minute from one address, try again later`
      return new Failure('resource_exhausted', 'too_many_calls', text, { retryAfterS })
    })
  }

  /**
   * The process of a form, for its team or for who has its link. Failures: process_not_found, the same where there is no
   * such process and where it has no form; form_token_invalid; too_many_calls.
   */
  async open({ team, params, exchange, principal, context }: FormCall): Promise<Process> {
    const identifier = params['slug'] ?? ''
    const token = linkToken(exchange)
    if (!isTeamSlug(team)) throw notFound('process')
    if (token !== undefined) this.#looks.count(`${team} ${identifier}`, principal.ip ?? '', performance.now())
    if (this.#teams.isGone(team)) throw notFound('process')
    const process = await this.#read(identifier, context)
    if (!process.settings?.formsEnabled) throw notFound('process')
    if (token !== undefined) requireLink(process.settings, token)
    return process
  }

  /** JSON text of the schema of what the form runs. Failure: version_not_found. */
  async schemaOf({ id, settings, parametersSchema }: Process, context: CallContext): Promise<string | undefined> {
    const version = settings?.formsTag
    if (!version) return parametersSchema
    const wanted = { process: id, version, takesAlias: true, withoutSource: true }
    return (await this.#versions.getVersion(wanted, context)).parametersSchema
  }

  async #read(identifier: string, context: CallContext): Promise<Process> {
    try {
      return await this.#processes.getProcess({ identifier, withoutSource: true }, context)
    } catch (error) {
      // A team that there is not is told to nobody.
      if (error instanceof Failure && error.kind === 'not_found') throw notFound('process')
      throw error
    }
  }
}

function requireLink({ publicEnabled, publicToken = '' }: ProcessSettings, token: string): void {
  const isRight = timingSafeEqual(digestOf(token), digestOf(publicToken))
  if (!isRight || !publicEnabled || publicToken.length < linkTokenCharacters)
    throw new Failure(
      'unauthenticated',
      'form_token_invalid',
      'The link does not open this form; ask for the present one',
    )
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
