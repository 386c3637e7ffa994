import type { StorageService } from '@automation/contract/storage/v1/storage'
import { uploadMessages } from '@automation/contract/uploads'
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
  for (const { storagePath: name, contentType, bytes } of files) {
    const begin = { name, contentType, size: BigInt(bytes.length), expiresInS: KEPT_S }
    await storage.uploadObject(uploadMessages(begin, piecesOf(bytes)), context)
  }
}

function* piecesOf(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}
