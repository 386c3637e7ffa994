import type { DescService } from '@bufbuild/protobuf'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import {
  status,
  type Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'

/** What grpc.health.v1 says of a service; the numbers are those of its proto. */
const state = { SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 }

interface Question {
  /** Empty for the server as a whole. */
  service: string
}

const method = {
  // Of the server as a whole, which is all that our own clients ask for.
  requestSerialize: () => Buffer.alloc(0),
  requestDeserialize: (bytes: Buffer): Question => ({ service: serviceIn(bytes) }),
  responseSerialize: (status: number) => Buffer.from([0x08, status]),
  responseDeserialize: (bytes: Buffer) => (bytes[0] === 0x08 ? (bytes[1] ?? 0) : 0),
}

const healthService = 'grpc.health.v1.Health'

/** The two methods of grpc.health.v1, written out: loading its proto takes longer than all else that a server needs. */
export const healthDefinition = {
  check: { ...method, path: `/${healthService}/Check`, requestStream: false, responseStream: false },
  watch: { ...method, path: `/${healthService}/Watch`, requestStream: false, responseStream: true },
} satisfies ServiceDefinition

/** Serves health to anybody: that of each service, and that of the server as a whole. */
export function addHealth(server: Server, services: readonly DescService[]): { drain(): void } {
  const names = new Set(['', ...services.map(({ typeName }) => typeName)])
  let now = state.SERVING
  const watchers = new Set<ServerWritableStream<Question, number>>()
  server.addService(healthDefinition, {
    check: (
      { request }: ServerUnaryCall<Question, number>,
      callback: (error: object | null, status?: number) => void,
    ) =>
      names.has(request.service)
        ? callback(null, now)
        : callback({ code: status.NOT_FOUND, details: 'There is no such service' }),
    watch: (call: ServerWritableStream<Question, number>) => {
      if (!names.has(call.request.service)) return void call.write(state.SERVICE_UNKNOWN)
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

function serviceIn(bytes: Buffer): string {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field === 1) return reader.string()
    reader.skip(type, field)
  }
  return ''
}
