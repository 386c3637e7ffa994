import {
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethod,
  type DescService,
  type Message,
} from '@bufbuild/protobuf'
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js'

/** A method as grpc-js wants it: its path, and how its messages become bytes. */
export function methodDefinition(method: DescMethod): MethodDefinition<Message, Message> {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: serializer(method.input),
    requestDeserialize: (bytes) => fromBinary(method.input, bytes),
    responseSerialize: serializer(method.output),
    responseDeserialize: (bytes) => fromBinary(method.output, bytes),
  }
}

export function serviceDefinition(service: DescService): ServiceDefinition {
  return Object.fromEntries(service.methods.map((method) => [method.localName, methodDefinition(method)]))
}

function serializer(type: DescMessage): (message: Message) => Buffer {
  return (message) => {
    const bytes = toBinary(type, message)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
}
