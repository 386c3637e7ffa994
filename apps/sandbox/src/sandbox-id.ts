import { v7 } from 'uuid'

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A new id: a UUIDv7, so that ids sort by the time of their making. */
export function newSandboxId(): string {
  return v7()
}

/** Any UUID in lower case; only such texts may go into statements. */
export function isUuid(text: string): boolean {
  return pattern.test(text)
}
