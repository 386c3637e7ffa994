import { createSecureContext } from 'node:tls'
import type { Environment } from '@automation/service'

/** A certificate, with those between it and its authority behind it, and its private key. PEM. */
export interface TlsIdentity {
  cert: string
  key: string
}

/** Reads `<name>_CERT` and `<name>_KEY`; faults are noted in `env`. Undefined where neither is set. */
export function readTls(env: Environment, name: string): TlsIdentity | undefined {
  const [certName, keyName] = [`${name}_CERT`, `${name}_KEY`]
  const [cert, key] = [env.secret(certName), env.secret(keyName)]
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    env.fault(cert === undefined ? certName : keyName, `must be set with ${cert === undefined ? keyName : certName}`)
    return undefined
  }
  try {
    createSecureContext({ cert, key })
    return { cert, key }
  } catch {
    // What OpenSSL says of a key is for nobody's log.
    env.fault(certName, `and ${keyName} must be a certificate and its private key, in PEM`)
    return undefined
  }
}
