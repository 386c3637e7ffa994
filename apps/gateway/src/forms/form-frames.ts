import { Failure } from '@automation/errors'
import type { CallLimits } from '../auth/call-limits.ts'
import type { GatewayConfig } from '../config.ts'
import { addressOf, callContext, type ClientAddress } from '../http/caller.ts'
import { decodedPath, type Exchange } from '../http/exchange.ts'
import { linkToken } from '../rest/operation.ts'
import { processIdentifier } from '../rest/parameters.ts'
import type { Forms } from './open-form.ts'

interface FormFramesDependencies {
  config: GatewayConfig
  calls: CallLimits
  clientAddress: ClientAddress
  forms: Forms
}

const formPage = /^\/forms\/([^/]+)\/([^/]+)$/

/** Which sites may show the page of a form within theirs. */
export class FormFrames {
  readonly #dependencies: FormFramesDependencies

  constructor(dependencies: FormFramesDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Origins that the form names, for the path of its page with the token of its link. None for any other page: a session
   * counts in no frame of another site. None as well where the link opens nothing, whose reason the page itself shows.
   */
  async ancestorsOf(exchange: Exchange): Promise<string[]> {
    const [, team, slug] = formPage.exec(decodedPath(exchange.path) ?? '') ?? []
    if (team === undefined || slug === undefined || linkToken(exchange) === undefined) return []
    const { config, calls, clientAddress, forms } = this.#dependencies
    const ip = addressOf(exchange, clientAddress)
    const principal = { role: 'user' as const, team, subject: 'link', name: 'link', ip }
    const context = callContext(exchange, principal, config.callTimeoutMs)
    try {
      const params = { slug: processIdentifier.read(slug) }
      calls.countOpen(team, performance.now())
      const { settings } = await forms.open({ team, params, exchange, principal, context })
      return settings?.frameAncestors ?? []
    } catch (error) {
      if (error instanceof Failure) return []
      throw error
    }
  }
}
