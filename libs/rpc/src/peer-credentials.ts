import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import { credentials, type ChannelCredentials, type ChannelOptions } from '@grpc/grpc-js'

export interface Trust {
  /** PEM of the authorities that are trusted; those of Node when absent. */
  authorities?: string
}

// An address of numbers is no name that TLS could ask for.
const namelessPeer = 'nameless.invalid'

/** What a channel to `host:port` is made with: TLS where `trust` is given, and the host is what its certificate must name. */
export function peerCredentials(
  address: string,
  trust: Trust | undefined,
): { credentials: ChannelCredentials; options: ChannelOptions } {
  if (trust === undefined) return { credentials: credentials.createInsecure(), options: {} }
  const roots = trust.authorities === undefined ? null : Buffer.from(trust.authorities)
  const host = address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) === 0) return { credentials: credentials.createSsl(roots), options: {} }
  const verify = { checkServerIdentity: (_name: string, cert: Certificate) => checkServerIdentity(host, cert) }
  const options = { 'grpc.ssl_target_name_override': namelessPeer }
  return { credentials: credentials.createSsl(roots, null, null, verify), options }
}

type Certificate = Parameters<typeof checkServerIdentity>[1]
