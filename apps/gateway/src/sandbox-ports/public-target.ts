/** What a request to a public port is for. */
export interface PublicTarget {
  sandboxId: string
  port: number
  /** What of the path is not the application's own; empty for a host per sandbox. */
  prefix: string
  /** Path and query as the application sees them; undefined for an address that lacks the slash behind the port. */
  rest: string | undefined
}

const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const pathForm = new RegExp(`^/(${id})/([1-9]\\d{0,4})(/.*)?$`)
const hostForm = new RegExp(`^([1-9]\\d{0,4})-(${id})\\.(.+)$`)

/**
 * The sandbox and port that a request names: by its path, or where there is a domain by its host alone, so that no sandbox
 * shares an origin with another. Undefined for any other address.
 */
export function publicTarget(
  { path, query, host }: { path: string; query: string; host: string },
  domain: string | undefined,
): PublicTarget | undefined {
  const question = query === '' ? '' : `?${query}`
  if (domain !== undefined) {
    const [, port, sandboxId, below] = hostForm.exec(withoutPort(host.toLowerCase())) ?? []
    if (below !== withoutPort(domain.toLowerCase())) return undefined
    return checked({ sandboxId: sandboxId!, port: Number(port), prefix: '', rest: `${path}${question}` })
  }
  const [, sandboxId, port, rest] = pathForm.exec(path) ?? []
  if (sandboxId === undefined) return undefined
  const prefix = `/${sandboxId}/${port}`
  return checked({ sandboxId, port: Number(port), prefix, rest: rest === undefined ? undefined : `${rest}${question}` })
}

function checked(target: PublicTarget): PublicTarget | undefined {
  return target.port <= 65_535 ? target : undefined
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '')
}
