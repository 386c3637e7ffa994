import { validate } from 'uuid'

/** Where the content of a blob is in the object store; the end of an id varies most, and parts folders evenly. */
export function blobKey(team: string, blobId: string): string {
  return `teams/${team}/${blobId.slice(-2)}/${blobId}`
}

/** Only such texts may go into statements. */
export function isBlobId(text: string): boolean {
  return validate(text)
}
