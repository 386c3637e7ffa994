import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import type { ChannelOptions } from '@grpc/grpc-js'
import { partsOf } from './address.ts'

// An address of numbers is no name that TLS could ask for.
const namelessPeer = 'nameless.invalid'

/**
 * What makes TLS to `host:port` hold the certificate there against that host, also where it is an address of numbers; or
 * against those that have led to it, of which one is enough.
 */
export function verifyPeer(
  address: string,
  names: readonly string[] = [partsOf(address).host],
): {
  verify: { checkServerIdentity?: (name: string, certificate: PeerCertificate) => Error | undefined }
  options: ChannelOptions
} {
  if (isIP(partsOf(address).host) === 0) return { verify: {}, options: {} }
  const identity = (_name: string, certificate: PeerCertificate) => {
    const faults = names.map((name) => checkServerIdentity(name, certificate))
    return faults.includes(undefined) ? undefined : faults[0]
  }
  return { verify: { checkServerIdentity: identity }, options: { 'grpc.ssl_target_name_override': namelessPeer } }
}
