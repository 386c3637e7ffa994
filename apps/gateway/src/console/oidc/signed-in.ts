import { timestampFromMs } from '@bufbuild/protobuf/wkt'

/** Somebody whom the issuer has let in. */
export interface SignedIn {
  subject: string
  name: string
  grants: { team: string; scopes: string[] }[]
  /** In how many ms the issuer is to be asked again; undefined where it gives nothing to ask with. */
  renewInMs: number | undefined
  secrets: string
}

/** The same, as the catalog keeps it. */
export function identityOf({ renewInMs, ...identity }: SignedIn) {
  return { ...identity, ...(renewInMs !== undefined && { renewAt: timestampFromMs(Date.now() + renewInMs) }) }
}
