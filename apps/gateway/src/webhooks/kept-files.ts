import type { StorageService } from '@automation/contract/storage/v1/storage'
import type { CallContext, Client } from '@automation/rpc'
import type { FormFile } from './payload.ts'

// A day.
const KEPT_S = 86_400n
const PIECE_BYTES = 128 * 1024

/** Keeps the files of a form, where the parameters of the run say that they are. */
export async function keepFiles(
  storage: Client<typeof StorageService>,
  files: FormFile[],
  context: CallContext,
): Promise<void> {
  for (const file of files) await storage.uploadObject(messages(file), context)
}

async function* messages({ storagePath: name, contentType, bytes }: FormFile) {
  const begin = { name, contentType, size: BigInt(bytes.length), expiresInS: KEPT_S }
  yield { part: { case: 'begin' as const, value: begin } }
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield { part: { case: 'chunk' as const, value: bytes.subarray(at, at + PIECE_BYTES) } }
}
