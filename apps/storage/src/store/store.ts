import { SchemaStore, type SchemaOptions } from '@automation/database'
import type { PartContext } from '@automation/service'
import { validate } from 'uuid'

/** Where storage keeps its rows. */
export const storageSchema: SchemaOptions = {
  schema: 'storage',
  migrationsDir: new URL('../../prisma/migrations/', import.meta.url),
}

/** The database of the storage service. */
export class Store extends SchemaStore {
  constructor(url: string, { logger, metrics }: Pick<PartContext, 'logger' | 'metrics'>) {
    super({ ...storageSchema, url, poolSize: 8, migrates: true, logger, metrics })
  }
}

/** What the keys of a team's contents begin with. */
export function teamPrefix(team: string): string {
  return `teams/${team}`
}

/** Where the content of a blob is in the object store; the end of an id varies most, and parts folders evenly. */
export function blobKey(team: string, blobId: string): string {
  return `${teamPrefix(team)}/${blobId.slice(-2)}/${blobId}`
}

/** Whose content is under a key. */
export function teamOfKey(key: string): string {
  return key.split('/', 2)[1] ?? ''
}

/** Only such texts may go into statements. */
export function isBlobId(text: string): boolean {
  return validate(text)
}
