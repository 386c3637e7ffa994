import type { NetworkInterfaceInfo } from 'node:os'
import { expect, test } from 'vitest'
import { ownAddress } from '../src/own-address.ts'

const at = (address: string, internal = false): NetworkInterfaceInfo => {
  const family = address.includes(':') ? 'IPv6' : 'IPv4'
  return { address, internal, family, netmask: '', mac: '', cidr: null, scopeid: 0 } as NetworkInterfaceInfo
}
const pod = { lo: [at('127.0.0.1', true), at('::1', true)], eth0: [at('fe80::1'), at('fd00::7'), at('10.1.2.3')] }

test.for([
  ['what listens on one address is there', '127.0.0.2', pod, '127.0.0.2:9102'],
  ['what listens on all is at that of the machine', '0.0.0.0', pod, '10.1.2.3:9102'],
  ['of IPv6 where there is no other', '::', { eth0: [at('fe80::1'), at('fd00::7')] }, '[fd00::7]:9102'],
  ['a machine without a network has itself', '0.0.0.0', { lo: [at('127.0.0.1', true)] }, '127.0.0.1:9102'],
] as const)('the own address: %s', ([, host, interfaces, expected]) => {
  expect(ownAddress({ host, port: 9102 }, interfaces as Record<string, NetworkInterfaceInfo[]>)).toBe(expected)
})
