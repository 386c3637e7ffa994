import type { CallContext, Handlers, ServedService } from '@automation/rpc'
import type { DescService } from '@bufbuild/protobuf'

type Call = (request: unknown, context: CallContext) => unknown

/** Counts the calls that are being answered, so that a stop can wait for them. */
export class Calls {
  #open = 0
  #idle = Promise.withResolvers<void>()

  /** The same service, counted. */
  counted({ service, handlers }: ServedService): ServedService {
    const calls = Object.entries(handlers).map(([method, call]) => [method, this.#counting(call as Call)])
    return { service, handlers: Object.fromEntries(calls) as Handlers<DescService> }
  }

  /** Returns when no call is open, after `timeoutMs` at the latest. */
  async ended(timeoutMs: number): Promise<void> {
    if (this.#open === 0) return
    const timer = setTimeout(this.#idle.resolve, timeoutMs)
    await this.#idle.promise
    clearTimeout(timer)
  }

  #becomeIdle(): void {
    this.#idle.resolve()
    this.#idle = Promise.withResolvers()
  }

  #counting(call: Call): Call {
    return async (request, context) => {
      this.#open += 1
      try {
        return await call(request, context)
      } finally {
        this.#open -= 1
        if (this.#open === 0) this.#becomeIdle()
      }
    }
  }
}
