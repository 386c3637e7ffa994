import { SandboxStatus, type Sandbox, type SandboxImage } from '@automation/contract/sandbox/v1/sandbox'
import type { Principal } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { seesCredentials } from '../../auth/scopes.ts'
import { int32, moment, textMap, uuid } from '../../rest/fields.ts'
import { made } from '../../rest/shared-fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'
import { publicPortUrl, type SandboxAddresses } from '../../sandbox-ports/addresses.ts'

const status = z.enum(['PENDING', 'RUNNING', 'KILLED', 'TIMED_OUT', 'FAILED'])

export const sandboxRecord = z
  .object({
    id: uuid(),
    name: z.string(),
    status,
    reason: z.string().optional().openapi({ description: 'Why it failed, in words' }),
    grpcServerUrl: z.string().openapi({ description: 'Where its daemon answers gRPC' }),
    grpcApiKey: z.string().openapi({
      description: 'For the metadata x-api-key of gRPC calls; empty where the token has not the scope build',
    }),
    imageId: z.string(),
    publicHttpPorts: z.array(int32()),
    publicUrls: textMap().openapi({ description: 'The address of each public port' }),
    metadata: textMap(),
    timeoutAt: moment().openapi({ description: 'When it is ended' }),
    ...made,
  })
  .openapi('Sandbox', {
    example: {
      id: samples.id,
      name: 'try-out',
      status: 'RUNNING',
      grpcServerUrl: 'https://automation.example:8082',
      grpcApiKey: 'a key for this sandbox alone',
      imageId: 'base',
      publicHttpPorts: [8000],
      publicUrls: { 8000: 'https://automation.example:8081/sandbox/8000/' },
      metadata: {},
      timeoutAt: samples.later,
      ...samples.made,
    },
  })

export const sandboxImageRecord = z
  .object({
    id: z.string().openapi({ description: 'What `imageId` of a new sandbox names' }),
    cpus: z.number().optional().openapi({ description: 'Of a core; absent where there is no bound' }),
    memoryMb: int32().openapi({ minimum: 0 }),
  })
  .openapi('SandboxImage', { example: { id: 'base', cpus: 1, memoryMb: 1024 } })

/** An image as JSON. */
export function presentSandboxImage({ id, cpus, memoryMb }: SandboxImage): z.input<typeof sandboxImageRecord> {
  return { id, cpus, memoryMb }
}

/** A sandbox as JSON for a caller, with the addresses at which it is reached. */
export function presentSandbox(
  sandbox: Sandbox,
  addresses: SandboxAddresses,
  caller: Principal,
): z.input<typeof sandboxRecord> {
  const { id, publicHttpPorts } = sandbox
  return {
    id,
    name: sandbox.name,
    status: SandboxStatus[sandbox.status] as z.input<typeof status>,
    reason: sandbox.reason,
    grpcServerUrl: addresses.grpcOrigin,
    grpcApiKey: seesCredentials(caller) ? sandbox.grpcApiKey : '',
    imageId: sandbox.imageId,
    publicHttpPorts,
    publicUrls: Object.fromEntries(publicHttpPorts.map((port) => [port, publicPortUrl(addresses, id, port)])),
    metadata: sandbox.metadata,
    timeoutAt: presentTime(sandbox.timeoutAt),
    createdBy: sandbox.createdBy,
    createdAt: presentTime(sandbox.createdAt),
  }
}
