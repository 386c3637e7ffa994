import { toBinary, type DescFile, type DescService } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { asFailure } from '@automation/errors'
import type { Metadata, Server, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import type { ReflectionService } from '@grpc/reflection'
import type { Principal } from './context.ts'
import { authorizationIn } from './metadata.ts'
import { statusFromFailure } from './status.ts'

type Verify = (authorization: string, service: string, method: string) => Principal | Promise<Principal>

type ReflectionTarget = Parameters<ReflectionService['addToServer']>[0]

interface ReflectionStream {
  metadata: Metadata
  emit(event: 'error', status: object): boolean
}

/** Serves gRPC reflection of these services; with `verify`, to callers with credentials alone. */
export async function addReflection(server: Server, services: DescService[], verify?: Verify): Promise<void> {
  const reflection = await import('@grpc/reflection')
  const files = new Map<string, Buffer>()
  for (const { file } of services) collect(file, files)
  const definition = {
    reflected: { format: 'Protocol Buffer 3 DescriptorProto', type: {}, fileDescriptorProtos: [...files.values()] },
  }
  type Definition = ConstructorParameters<typeof reflection.ReflectionService>[0]
  const added = new reflection.ReflectionService(definition as unknown as Definition)
  added.addToServer(verify === undefined ? server : guarded(server, verify))
}

/** A file of the contract with all that it imports, in the form of the reflection service. */
function collect(file: DescFile, files: Map<string, Buffer>): void {
  if (files.has(file.name)) return
  files.set(file.name, Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)))
  for (const dependency of file.dependencies) collect(dependency, files)
}

/** Takes the reflection service's methods with a check before each. */
function guarded(server: Server, verify: Verify): ReflectionTarget {
  return {
    addService(definition: ServiceDefinition, methods: UntypedServiceImplementation) {
      const checked = Object.entries(methods).map(([name, method]) => [
        name,
        (call: ReflectionStream) => {
          const verified = async () => verify(authorizationIn(call.metadata), 'grpc.reflection', 'List')
          verified().then(
            () => (method as (call: ReflectionStream) => void)(call),
            (thrown: unknown) => call.emit('error', statusFromFailure(asFailure(thrown))),
          )
        },
      ])
      server.addService(definition, Object.fromEntries(checked) as UntypedServiceImplementation)
    },
  }
}
