import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import type { ChannelOptions } from '@grpc/grpc-js'

// What is connected to is an address of numbers, which is no name that TLS could ask for.
const namelessPeer = 'nameless.invalid'

/** What makes TLS hold the certificate of a peer against these hosts, names or addresses of numbers: one is enough. */
export function verifyPeer(hosts: readonly string[]): {
  verify: { checkServerIdentity: (name: string, certificate: PeerCertificate) => Error | undefined }
  options: ChannelOptions
} {
  const identity = (_name: string, certificate: PeerCertificate) => {
    const faults = hosts.map((host) => checkServerIdentity(host, certificate))
    return faults.includes(undefined) ? undefined : (faults[0] ?? new Error('The peer has no name to be known by'))
  }
  return { verify: { checkServerIdentity: identity }, options: { 'grpc.ssl_target_name_override': namelessPeer } }
}
