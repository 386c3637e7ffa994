import type { SandboxSchema } from '@automation/contract/sandbox/v1/sandbox'
import type { SecretBox } from '@automation/database'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { SandboxRow } from './store/rows.ts'

/** Where a key is sealed to: moved to another row, it does not open. */
export const apiKeyContext = (id: string) => `sandbox key:${id}`
export const daemonKeyContext = (id: string) => `sandbox daemon key:${id}`

/** A sandbox as its team sees it. */
export function sandboxMessage(row: SandboxRow, box: SecretBox): MessageInitShape<typeof SandboxSchema> {
  return {
    id: row.id,
    name: row.name,
    imageId: row.imageId,
    metadata: JSON.parse(row.metadata) as Record<string, string>,
    publicHttpPorts: row.publicHttpPorts,
    status: row.status,
    reason: row.reason ?? undefined,
    // Of one that ended long ago the key of ENCRYPTION_KEY may have gone.
    grpcApiKey: box.knows(row.keyId) ? opened(box, row, row.apiKey, apiKeyContext(row.id)) : '',
    timeoutAt: timestampFromDate(row.timeoutAt),
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
  }
}

/** A sealed key in plain. */
export function opened(box: SecretBox, { keyId }: SandboxRow, ciphertext: Uint8Array, context: string): string {
  return box.open({ ciphertext, keyId }, context)
}
