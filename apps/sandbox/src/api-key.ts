import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const secretBytes = 32
const form = /^sbx_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/

/** The key by which users of a sandbox reach its daemon: `sbx_<id without hyphens>_<secret>`. */
export function newApiKey(sandboxId: string): string {
  return `sbx_${sandboxId.replaceAll('-', '')}_${newSecret()}`
}

/** 256 random bits. */
export function newSecret(): string {
  return randomBytes(secretBytes).toString('base64url')
}

/** The id of the sandbox that a key names; undefined when it has not the form of a key. */
export function sandboxOf(apiKey: string): string | undefined {
  const match = form.exec(apiKey)
  return match === null ? undefined : match.slice(1, 6).join('-')
}

/** What is kept of a key to know it again. */
export function digestOf(apiKey: string): Buffer<ArrayBuffer> {
  return createHash('sha256').update(apiKey).digest() as Buffer<ArrayBuffer>
}

/** Takes as long for any key. */
export function isKeyOf(apiKey: string, digest: Uint8Array): boolean {
  return timingSafeEqual(digestOf(apiKey), digest)
}
