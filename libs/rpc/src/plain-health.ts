import type { Server, ServerWritableStream, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'

/** What grpc.health.v1 says of a server; the numbers are those of its proto. */
const state = { SERVING: 1, NOT_SERVING: 2 }

type Watcher = ServerWritableStream<object, number>

export const healthService = 'grpc.health.v1.Health'

const method = {
  // One server, one state: which of its services is asked for makes no difference.
  requestSerialize: () => Buffer.alloc(0),
  // grpc-js takes what is falsy for no request at all.
  requestDeserialize: () => ({}),
  responseSerialize: (status: number) => Buffer.from([0x08, status]),
  responseDeserialize: (bytes: Buffer) => (bytes[0] === 0x08 ? (bytes[1] ?? 0) : 0),
}

/** The two methods of grpc.health.v1, written out: loading its proto takes longer than all else that a server needs. */
export const healthDefinition = {
  check: { ...method, path: `/${healthService}/Check`, requestStream: false, responseStream: false },
  watch: { ...method, path: `/${healthService}/Watch`, requestStream: false, responseStream: true },
} satisfies ServiceDefinition

/** Serves health for the server as a whole, to anybody. */
export function addPlainHealth(server: Server): { drain(): void } {
  let now = state.SERVING
  const watchers = new Set<Watcher>()
  server.addService(healthDefinition, {
    check: (_call: unknown, callback: (error: null, status: number) => void) => callback(null, now),
    watch: (call: Watcher) => {
      watchers.add(call)
      call.on('cancelled', () => watchers.delete(call))
      call.write(now)
    },
  } as UntypedServiceImplementation)
  return {
    drain: () => {
      now = state.NOT_SERVING
      for (const watcher of watchers) watcher.write(now)
    },
  }
}

/** Whether an answer of the health service says that the server serves. */
export function isServing(status: number | undefined): boolean {
  return status === state.SERVING
}
