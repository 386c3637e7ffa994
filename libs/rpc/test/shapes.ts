import { InProcessNetwork, served, type CallContext, type Client, type Handlers, type Principal } from '@automation/rpc'
import { serve, WireNetwork, type ServedPort, type WireOptions } from '@automation/rpc/wire'
import { silentLogger } from '@automation/testing'
import type { Tracer } from '@automation/tracing'
import { SignJWT } from 'jose'
import { ProbeService } from './probe/probe_pb.ts'

export const internalKey = 'an internal key of the tests that is long enough'

export interface Shape {
  probe: Client<typeof ProbeService>
  stop(): Promise<void>
}

export type ProbeHandlers = Handlers<typeof ProbeService>

/** Both ways to fill a neighbour; what holds for one holds for the other. */
export const shapes: [string, (handlers: ProbeHandlers, tracer?: Tracer) => Promise<Shape>][] = [
  ['in process', inProcessShape],
  ['over the wire', wireShape],
]

async function inProcessShape(handlers: ProbeHandlers, tracer?: Tracer): Promise<Shape> {
  const network = new InProcessNetwork(tracer)
  network.add([served(ProbeService, handlers)])
  return { probe: network.client(ProbeService), stop: async () => undefined }
}

async function wireShape(handlers: ProbeHandlers, tracer?: Tracer): Promise<Shape> {
  const port = await serveProbe(handlers, 0, tracer)
  const network = networkTo([port.port], { tracer })
  return {
    probe: network.client(ProbeService),
    stop: async () => {
      network.close()
      await port.close(0)
    },
  }
}

export function serveProbe(handlers: ProbeHandlers, port = 0, tracer?: Tracer, key = internalKey): Promise<ServedPort> {
  return serve([served(ProbeService, handlers)], {
    host: '127.0.0.1',
    port,
    internalKey: key,
    maxMessageBytes: 1_000_000,
    logger: silentLogger,
    tracer,
  })
}

export function networkTo(ports: number[], options: Partial<WireOptions> = {}): WireNetwork {
  return new WireNetwork({
    addresses: { probe: ports.map((port) => `127.0.0.1:${port}`) },
    key: { internalKey },
    maxMessageBytes: 1_000_000,
    connectWithinMs: 500,
    ...options,
  })
}

export const user: Principal = {
  role: 'user',
  team: 'demo',
  subject: 'sa-demo-12345678',
  name: 'Töken',
  scope: 'executor',
  initiatedBy: 'somebody',
  ip: '192.0.2.1',
}

/** A service under the name of another, to try what its name is allowed. */
export function renamed(typeName: string): typeof ProbeService {
  const service = { ...ProbeService, typeName } as typeof ProbeService
  const methods = ProbeService.methods.map((method) => ({ ...method, parent: service }))
  return Object.assign(service, { methods })
}

/** A call that nobody cancels, unless `signal` does. */
export function call(context: Partial<CallContext> = {}): CallContext {
  return { principal: user, requestId: 'request-1', signal: new AbortController().signal, ...context }
}

/** Handlers that answer nothing; tests replace what they look at. */
export function handlers(given: Partial<ProbeHandlers> = {}): ProbeHandlers {
  return {
    ask: () => ({}),
    look: () => ({}),
    put: () => ({}),
    async *count() {},
    async *talk() {},
    gather: () => ({}),
    ...given,
  }
}

/** The authorization of a service, with `change` in its claims; `iat` and `exp` are seconds from now. */
export async function bearer(change: Record<string, unknown>): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const { iat = 0, exp = 60, ...claims } = change as { iat?: number; exp?: number }
  const endless = 'exp' in change && change['exp'] === undefined
  const payload = { role: 'user', team: 'demo', name: 'n', sub: 's', aud: 'automation-internal', ...claims }
  const token = await new SignJWT({ ...payload, iat: now + iat, ...(endless ? {} : { exp: now + exp }) })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(internalKey))
  return `Bearer ${token}`
}
