import type { DescService } from '@bufbuild/protobuf'
import type { Server } from '@grpc/grpc-js'

/** Serves grpc.health.v1 for each service and for the server as a whole (""). */
export async function addHealth(server: Server, services: DescService[]): Promise<{ drain(): void }> {
  // Loaded here, as a part that only calls, or lives in process, has no use for it.
  const { HealthImplementation } = await import('grpc-health-check')
  const names = ['', ...services.map(({ typeName }) => typeName)]
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'SERVING' as const])))
  health.addToServer(server)
  return {
    drain: () => {
      for (const name of names) health.setStatus(name, 'NOT_SERVING')
    },
  }
}
