import { SandboxStatus, type Sandbox } from '@automation/contract/sandbox/v1/sandbox'
import type { SandboxUrls } from '../sandbox-addresses.ts'
import { presentTime } from './time.ts'

/** Status names as callers know them, in the order of their numbers. */
export const SANDBOX_STATUS_NAMES = ['PENDING', 'RUNNING', 'KILLED', 'TIMED_OUT', 'FAILED'] as const

/** A sandbox as JSON, with the addresses at which it is reached. */
export function presentSandbox(sandbox: Sandbox, urls: SandboxUrls): Record<string, unknown> {
  const { id, publicHttpPorts } = sandbox
  return {
    id,
    name: sandbox.name,
    status: SANDBOX_STATUS_NAMES[sandbox.status - SandboxStatus.PENDING],
    reason: sandbox.reason,
    grpcServerUrl: urls.grpc,
    grpcApiKey: sandbox.grpcApiKey,
    imageId: sandbox.imageId,
    publicHttpPorts,
    publicUrls: Object.fromEntries(publicHttpPorts.map((port) => [port, urls.port(id, port)])),
    metadata: sandbox.metadata,
    timeoutAt: presentTime(sandbox.timeoutAt),
    createdBy: sandbox.createdBy,
    createdAt: presentTime(sandbox.createdAt),
  }
}
