import { hkdfSync } from 'node:crypto'
import { EncryptJWT, errors, jwtDecrypt } from 'jose'
import type { Exchange } from '../../http/exchange.ts'
import { cookieValues, flowCookieNames } from '../../http/session-cookie.ts'
import type { Flow } from './issuer.ts'

const lifeS = 600

/** An attempt to sign in, as its browser keeps it. */
interface KeptFlow extends Flow {
  /** Where it leads to, at the console. */
  returnTo: string
  /** That the browser is in, whose strict cookie does not come with the way back. */
  formerSessionId?: string | undefined
}

/**
 * The cookie that holds an attempt to sign in until the issuer sends the browser back: sealed, and Lax, as it comes with a
 * link of another site. All gateways open it, as they have the same client secret.
 */
export class FlowCookie {
  readonly #name: string
  readonly #attributes: string
  readonly #key: Uint8Array

  constructor(origin: string, clientSecret: string) {
    const isSecure = origin.startsWith('https:')
    this.#name = flowCookieNames[isSecure ? 'https' : 'http']
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
    this.#key = new Uint8Array(hkdfSync('sha256', clientSecret, '', 'console sign-in', 32))
  }

  async set({ state, nonce, verifier, returnTo, formerSessionId }: KeptFlow): Promise<string> {
    const sealed = await new EncryptJWT({ state, nonce, verifier, returnTo, formerSessionId })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(`${lifeS} s`)
      .encrypt(this.#key)
    return `${this.#name}=${sealed}; Max-Age=${lifeS}; ${this.#attributes}`
  }

  clear(): string {
    return `${this.#name}=; Max-Age=0; ${this.#attributes}`
  }

  /** Undefined where there is none that is ours, or no longer. */
  async read({ incoming }: Exchange): Promise<KeptFlow | undefined> {
    for (const value of cookieValues(incoming.headers.cookie, this.#name)) {
      try {
        return (await jwtDecrypt<KeptFlow>(value, this.#key)).payload
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error
      }
    }
    return undefined
  }
}
