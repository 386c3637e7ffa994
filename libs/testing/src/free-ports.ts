import { freePort } from '@automation/postgres'

/** So many loopback ports that nobody listens on now, and that no outgoing connection takes. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort())
  return [...ports]
}
