import {
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethod,
  type DescService,
  type Message,
} from '@bufbuild/protobuf'
import { asFailure } from '@automation/errors'
import type { ServiceDefinition } from '@grpc/grpc-js'

/** The path of a method on the wire. */
export function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`
}

/** How a message becomes bytes. */
export function encoder(type: DescMessage): (message: Message) => Buffer {
  return (message) => {
    const bytes = toBinary(type, message)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
}

/** How bytes become a message; throws a Failure where they are none. */
export function decoder(type: DescMessage): (bytes: Uint8Array) => Message {
  return (bytes) => {
    try {
      return fromBinary(type, bytes)
    } catch (error) {
      throw asFailure(error)
    }
  }
}

/**
 * Messages pass gRPC as bytes. So what waits in a stream can be counted (`send` and `received`), and a message that
 * can't be encoded or decoded is a failure of ours, which its caller can tell from a connection that broke.
 */
export function asBytes(bytes: Buffer): Buffer {
  return bytes
}

/** A service as the server of grpc-js wants it. */
export function serviceDefinition(service: DescService): ServiceDefinition {
  return Object.fromEntries(service.methods.map((method) => [method.localName, methodDefinition(method)]))
}

function methodDefinition(method: DescMethod): ServiceDefinition[string] {
  const { methodKind } = method
  return {
    path: pathOf(method),
    requestStream: methodKind === 'client_streaming' || methodKind === 'bidi_streaming',
    responseStream: methodKind === 'server_streaming' || methodKind === 'bidi_streaming',
    requestSerialize: asBytes,
    requestDeserialize: asBytes,
    responseSerialize: asBytes,
    responseDeserialize: asBytes,
  }
}
