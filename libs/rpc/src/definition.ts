import {
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethod,
  type DescService,
  type Message,
} from '@bufbuild/protobuf'
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

/** How bytes become a message. */
export function decoder(type: DescMessage): (bytes: Buffer) => Message {
  return (bytes) => fromBinary(type, bytes)
}

/** The messages of a stream pass gRPC as bytes: `send` and `received` encode and decode them, and count what waits. */
export function asBytes(bytes: Buffer): Buffer {
  return bytes
}

/** A service as the server of grpc-js wants it. */
export function serviceDefinition(service: DescService): ServiceDefinition {
  return Object.fromEntries(service.methods.map((method) => [method.localName, methodDefinition(method)]))
}

function methodDefinition(method: DescMethod): ServiceDefinition[string] {
  const { methodKind, input, output } = method
  const requestStream = methodKind === 'client_streaming' || methodKind === 'bidi_streaming'
  const responseStream = methodKind === 'server_streaming' || methodKind === 'bidi_streaming'
  return {
    path: pathOf(method),
    requestStream,
    responseStream,
    requestSerialize: requestStream ? asBytes : encoder(input),
    requestDeserialize: requestStream ? asBytes : decoder(input),
    responseSerialize: responseStream ? asBytes : encoder(output),
    responseDeserialize: responseStream ? asBytes : decoder(output),
  }
}
