import { byCalls, inBoth, type Attempt, type Where } from './attempt.ts'

const connects = (name: string, refusedBy: Where, port: string, host: string): Attempt =>
  inBoth(
    `connects to ${name}`,
    refusedBy,
    `return connects({ port: probe.${port}, host: ${host.startsWith('probe') ? host : `'${host}'`} })`,
    `connects(socket.${host.includes(':') ? 'AF_INET6' : 'AF_INET'}, (${host.startsWith('probe') ? `probe['hostAddress']` : `'${host}'`}, probe['${port}']))`,
  )

const asks = (name: string, host: string): Attempt =>
  inBoth(
    name,
    'own',
    `return asks(probe.udpPort, ${host.startsWith('probe') ? host : `'${host}'`})`,
    `asks(probe['udpPort'], ${host.startsWith('probe') ? `probe['hostAddress']` : `'${host}'`})`,
  )

const socketOf = (name: string, family: number, type: number, protocol: number, more: Pick<Attempt, 'control'> = {}) =>
  byCalls(name, 'every level', `socket.socket(${family}, ${type}, ${protocol}).close()`, more)

/** The database, ports of the service, other programs of this machine, and what lies below connections. */
export const attemptsOnNetwork: Attempt[] = [
  connects('the gateway', 'every level', 'gatewayPort', '127.0.0.1'),
  connects('the port of execution', 'every level', 'executionPort', '127.0.0.1'),
  connects('the port for health', 'every level', 'healthPort', '127.0.0.1'),
  connects('the database', 'every level', 'databasePort', '127.0.0.1'),
  connects('the gateway by another name of the loopback', 'every level', 'gatewayPort', '127.1.2.3'),
  connects('the gateway by no address', 'every level', 'gatewayPort', '0.0.0.0'),
  connects('the gateway by the address of the host', 'every level', 'gatewayPort', 'probe.hostAddress'),
  connects('the gateway by IPv6', 'every level', 'gatewayPort', '::1'),
  connects('the gateway by IPv6 that is mapped', 'every level', 'gatewayPort', '::ffff:127.0.0.1'),
  connects('the database by the address of the host', 'every level', 'databasePort', 'probe.hostAddress'),
  byCalls(
    'connects to the gateway by several ways (MPTCP)',
    'every level',
    `connects(socket.AF_INET, ('127.0.0.1', probe['gatewayPort']), 262)`,
  ),
  byCalls(
    'connects to the gateway by sending',
    'every level',
    `
with socket.socket() as one:
    one.sendto(b'x', 0x20000000, ('127.0.0.1', probe['gatewayPort']))`,
  ),
  byCalls(
    'connects to the gateway by sending a message',
    'every level',
    `
with socket.socket() as one:
    one.sendmsg([b'x'], [], 0x20000000, ('127.0.0.1', probe['gatewayPort']))`,
  ),
  inBoth(
    'asks the gateway by HTTP',
    'every level',
    `try { await fetch('http://127.0.0.1:' + probe.gatewayPort) } catch (error) { if (error.cause.code !== 'UND_ERR_SOCKET' && error.cause.code !== 'ECONNRESET') throw error.cause }`,
    `
import http.client
try:
    http.client.HTTPConnection('127.0.0.1', probe['gatewayPort'], timeout=1).request('GET', '/')
except (BrokenPipeError, ConnectionResetError):
    pass`,
  ),
  connects('another program of this machine', 'own', 'otherPort', '127.0.0.1'),
  connects('another program by the address of the host', 'own', 'otherPort', 'probe.hostAddress'),
  connects('another program by IPv6', 'own', 'otherPort', '::1'),
  asks('asks another program by UDP', '127.0.0.1'),
  asks('asks another program by UDP at the address of the host', 'probe.hostAddress'),
  inBoth(
    'reads which ports others have',
    'own',
    `return fs.readFileSync('/proc/net/tcp6', 'latin1').includes(probe.otherPort.toString(16).toUpperCase())`,
    `return '%04X' % probe['otherPort'] in open('/proc/net/tcp6').read()`,
  ),
  inBoth(
    'sees the address of the host',
    // pasta gives the jail the same one, where it leads to the jail itself.
    'slirp4netns',
    `return Object.values(os.networkInterfaces()).flat().some(({ address }) => address === probe.hostAddress)`,
    `
import json, subprocess
return probe['hostAddress'] in open('/proc/net/fib_trie').read()`,
    { control: 'none' },
  ),
  socketOf('listens to all packets', 17, 3, 0x0300, { control: 'root' }),
  socketOf('talks to virtual machines', 40, 1, 0),
  socketOf('hears of devices', 16, 3, 15),
  socketOf('asks for the sockets of others', 16, 3, 4),
  socketOf('talks to the audit', 16, 3, 9),
  socketOf('talks to the filters of packets', 16, 3, 12),
  socketOf('talks to other parts of the kernel', 16, 3, 16),
  socketOf('uses the cryptography of the kernel', 38, 5, 0, { control: 'none' }),
  byCalls('makes packets of its own', 'namespaces', `socket.socket(2, 3, 255).close()`, { control: 'root' }),
  byCalls(
    'sets the state of an interface',
    'namespaces',
    `
with socket.socket(2, 2) as one:
    asked = fcntl.ioctl(one, 0x8913, b'lo'.ljust(40, b'\\0'))
    fcntl.ioctl(one, 0x8914, asked)`,
    { control: 'root' },
  ),
  byCalls(
    'takes a port that only administrators take',
    'namespaces',
    `
with socket.socket() as one:
    one.bind(('127.0.0.1', 999))`,
    { control: 'root' },
  ),
  byCalls('asks for metadata of the machine', 'own', `connects(socket.AF_INET, ('169.254.169.254', 80))`, {
    control: 'none',
  }),
  byCalls('asks for metadata on a public address', 'own', `connects(socket.AF_INET, ('168.63.129.16', 80))`, {
    control: 'none',
  }),
  byCalls(
    'asks for metadata by an interface',
    'own',
    `
with socket.socket() as one:
    one.settimeout(1)
    one.setsockopt(1, 25, [name for _, name in socket.if_nameindex() if name != 'lo'][0].encode())
    one.connect(('169.254.169.254', 80))`,
    { control: 'none' },
  ),
]
