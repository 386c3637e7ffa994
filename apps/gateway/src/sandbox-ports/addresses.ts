/** Where sandboxes answer from outside, apart from the gateway's own origin. */
export interface SandboxAddresses {
  /** Origin of the public ports. */
  publicOrigin: string
  /** Origin of the gRPC interface. */
  grpcOrigin: string
  /** With it every port of a sandbox is a host of its own below; may have a port, else that of `publicOrigin`. */
  publicDomain: string | undefined
}

/** What the configuration says of addresses, and the ports that the gateway listens on. */
interface AddressSettings {
  /** The gateway's own; its host is that of sandboxes, too, where they have no address of their own. */
  gatewayUrl: string
  publicUrl: string | undefined
  grpcUrl: string | undefined
  /** Whether the gRPC port speaks TLS itself. */
  grpcIsTls: boolean
  publicDomain: string | undefined
  publicPort: number
  grpcPort: number
}

/** As they are told to users: what is configured, or the gateway's host with the ports that it listens on. */
export function sandboxAddresses(settings: AddressSettings): SandboxAddresses {
  const { gatewayUrl, publicUrl, grpcUrl, grpcIsTls, publicDomain, publicPort, grpcPort } = settings
  const { protocol, hostname, port } = new URL(gatewayUrl)
  // Something stands in front of a gateway that is at the usual port: it has the usual port for a domain, too.
  const isBehind = publicDomain !== undefined && port === ''
  const otherwise = isBehind ? `${protocol}//${hostname}` : `http://${hostname}:${publicPort}`
  return {
    publicOrigin: publicUrl ?? otherwise,
    grpcOrigin: grpcUrl ?? `${grpcIsTls ? 'https' : 'http'}://${hostname}:${grpcPort}`,
    publicDomain,
  }
}

/** Where a public port of a sandbox is reached. */
export function publicPortUrl(addresses: SandboxAddresses, sandboxId: string, port: number): string {
  const { publicOrigin, publicDomain } = addresses
  if (publicDomain === undefined) return `${publicOrigin}/${sandboxId}/${port}/`
  const { protocol, port: outer } = new URL(publicOrigin)
  const host = /:\d+$/.test(publicDomain) || outer === '' ? publicDomain : `${publicDomain}:${outer}`
  return `${protocol}//${port}-${sandboxId}.${host}`
}
