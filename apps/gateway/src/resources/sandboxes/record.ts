import { SandboxStatus, type Sandbox } from '@automation/contract/sandbox/v1/sandbox'
import { publicPortUrl, type SandboxAddresses } from '../../sandbox-ports/addresses.ts'
import { presentTime } from '../../rest/time.ts'

/** Status names as callers know them, in the order of their numbers. */
export const SANDBOX_STATUS_NAMES = ['PENDING', 'RUNNING', 'KILLED', 'TIMED_OUT', 'FAILED'] as const

/** A sandbox as JSON, with the addresses at which it is reached. */
export function presentSandbox(sandbox: Sandbox, addresses: SandboxAddresses): Record<string, unknown> {
  const { id, publicHttpPorts } = sandbox
  return {
    id,
    name: sandbox.name,
    status: SANDBOX_STATUS_NAMES[sandbox.status - SandboxStatus.PENDING],
    reason: sandbox.reason,
    grpcServerUrl: addresses.grpcOrigin,
    grpcApiKey: sandbox.grpcApiKey,
    imageId: sandbox.imageId,
    publicHttpPorts,
    publicUrls: Object.fromEntries(publicHttpPorts.map((port) => [port, publicPortUrl(addresses, id, port)])),
    metadata: sandbox.metadata,
    timeoutAt: presentTime(sandbox.timeoutAt),
    createdBy: sandbox.createdBy,
    createdAt: presentTime(sandbox.createdAt),
  }
}
