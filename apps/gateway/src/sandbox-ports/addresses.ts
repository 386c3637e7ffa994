/** Where sandboxes answer from outside, apart from the gateway's own origin. */
export interface SandboxAddresses {
  /** Without a trailing slash; its host is that of sandboxes, too. */
  publicUrl: string
  publicPort: number
  grpcPort: number
  /** With it every port of a sandbox is a host of its own below; may have a port. */
  publicDomain: string | undefined
}

/** What users of a sandbox's gRPC interface connect to. */
export function grpcServerUrl({ publicUrl, grpcPort }: SandboxAddresses): string {
  return `http://${new URL(publicUrl).hostname}:${grpcPort}`
}

/** Where a public port of a sandbox is reached. */
export function publicPortUrl(addresses: SandboxAddresses, sandboxId: string, port: number): string {
  const { protocol, hostname } = new URL(addresses.publicUrl)
  return addresses.publicDomain === undefined
    ? `http://${hostname}:${addresses.publicPort}/${sandboxId}/${port}/`
    : `${protocol}//${port}-${sandboxId}.${addresses.publicDomain}`
}
