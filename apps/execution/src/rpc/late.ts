import { unavailable } from '@automation/errors'
import type { Handlers } from '@automation/rpc'
import type { DescService } from '@bufbuild/protobuf'

/** Handlers that are there before what they call is: until then, and after the end, every call is `unavailable`. */
export function late<S extends DescService>(service: S, handlers: () => Handlers<S> | undefined): Handlers<S> {
  const calls: Record<string, unknown> = {}
  for (const { localName } of service.methods) {
    calls[localName] = (request: unknown, context: unknown) => {
      const now = handlers() as Record<string, (request: unknown, context: unknown) => unknown> | undefined
      if (now === undefined) throw unavailable('The service is not ready, try again')
      return now[localName]!(request, context)
    }
  }
  return calls as Handlers<S>
}
