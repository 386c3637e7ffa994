import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os'
import { addressOf } from '@automation/rpc/address'

/**
 * Where others reach what listens here, as host:port. Of what listens on every address of the machine that is the first one
 * that is not loopback, of IPv4 where there is one; a machine with several is told which by INTERNAL_HOST.
 */
export function ownAddress(
  { host, port }: { host: string; port: number },
  interfaces: Partial<Record<string, NetworkInterfaceInfo[]>> = networkInterfaces(),
): string {
  const isEverywhere = host === '0.0.0.0' || host === '::'
  return addressOf(isEverywhere ? (outward(interfaces) ?? '127.0.0.1') : host, port)
}

function outward(interfaces: Partial<Record<string, NetworkInterfaceInfo[]>>): string | undefined {
  const all = Object.values(interfaces).flatMap((each) => each ?? [])
  const outer = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  return (outer.find(({ family }) => family === 'IPv4') ?? outer[0])?.address
}
