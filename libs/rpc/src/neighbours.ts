import type { DescService } from '@bufbuild/protobuf'
import { Failure } from '@automation/errors'
import type { Tracer } from '@automation/tracing'
import { inProcess } from './in-process.ts'
import type { Client, Handlers, ServedService } from './service-types.ts'
import { traced } from './traced.ts'

/** Where a part finds the others: in the same process or over the wire, it cannot tell. */
export interface Neighbours {
  /** A client of a service, at whichever replica. `connection` names a connection of its own, apart from the others. */
  client<S extends DescService>(service: S, connection?: string): Client<S>
  /** A client for each replica of a service. */
  replicas<S extends DescService>(service: S, connection?: string): Client<S>[]
  /** A client of the replica at this address (host:port); in one process there is only the one. */
  at<S extends DescService>(service: S, address: string, connection?: string): Client<S>
}

/** Neighbours that live in this process. Parts may be added after clients were handed out. */
export class InProcessNetwork implements Neighbours {
  readonly #handlers = new Map<string, Handlers<DescService>>()
  readonly #tracer: Tracer | undefined

  /** `tracer` makes spans of calls. */
  constructor(tracer?: Tracer) {
    this.#tracer = tracer
  }

  add(services: ServedService[]): void {
    for (const { service, handlers } of services) this.#handlers.set(service.typeName, handlers)
  }

  client<S extends DescService>(service: S): Client<S> {
    const late: Record<string, unknown> = {}
    for (const method of service.methods) {
      late[method.localName] = (request: never, context: never) => {
        const call = this.#connected(service)[method.localName] as (request: never, context: never) => unknown
        return call(request, context)
      }
    }
    return late as Client<S>
  }

  replicas<S extends DescService>(service: S): Client<S>[] {
    return [this.client(service)]
  }

  at<S extends DescService>(service: S): Client<S> {
    return this.client(service)
  }

  readonly #clients = new Map<string, Record<string, unknown>>()

  #connected(service: DescService): Record<string, unknown> {
    const known = this.#clients.get(service.typeName)
    if (known !== undefined) return known
    const handlers = this.#handlers.get(service.typeName)
    if (handlers === undefined)
      throw new Failure('unimplemented', 'service_absent', 'This service is not part of the system', {
        cause: service.typeName,
      })
    const spanned = traced(service, handlers, this.#tracer, 'internal')
    const client = inProcess(service, spanned) as Record<string, unknown>
    this.#clients.set(service.typeName, client)
    return client
  }
}
