import type { Environment } from '@automation/service'

/** Where sandboxes answer, apart from the gateway's own origin. */
export interface SandboxAddresses {
  publicPort: number
  grpcPort: number
  /** A host for each sandbox and port below it; absent: a path for each at one host. */
  publicDomain: string | undefined
}

/** Reads them; faults are noted in `env`. */
export function readSandboxAddresses(env: Environment): SandboxAddresses {
  const publicDomain = env.text('SANDBOX_PUBLIC_DOMAIN')
  if (publicDomain !== undefined && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/i.test(publicDomain))
    env.fault('SANDBOX_PUBLIC_DOMAIN', 'must be a domain such as sandboxes.example.com, with a port where it has one')
  return {
    publicPort: env.integer('SANDBOX_PUBLIC_PORT', { default: 8081, max: 65_535 }),
    grpcPort: env.integer('SANDBOX_GRPC_PORT', { default: 8082, max: 65_535 }),
    publicDomain,
  }
}

/** The addresses of one sandbox, as its users reach them. */
export class SandboxUrls {
  readonly #addresses: SandboxAddresses
  readonly #publicUrl: URL

  constructor(addresses: SandboxAddresses, publicUrl: string) {
    this.#addresses = addresses
    this.#publicUrl = new URL(publicUrl)
  }

  /** Of the daemon's gRPC interface. */
  get grpc(): string {
    return `${this.#publicUrl.protocol}//${this.#publicUrl.hostname}:${this.#addresses.grpcPort}`
  }

  /** Of a public port. */
  port(sandboxId: string, port: number): string {
    const { protocol, hostname } = this.#publicUrl
    const { publicDomain, publicPort } = this.#addresses
    if (publicDomain !== undefined) return `${protocol}//${port}-${sandboxId}.${publicDomain}/`
    return `${protocol}//${hostname}:${publicPort}/${sandboxId}/${port}/`
  }
}
