import { createInterface } from 'node:readline'
import type { Listen } from '@automation/rpc/keyed-server'
import { keyDigest } from './owner.ts'

/**
 * `fd:3`, `unix:/path` or `host:port`; `[::]:port` is every address, also where there is no IPv6. Throws an Error that
 * names the setting.
 */
export function listenFrom(text: string | undefined): Listen {
  const descriptor = /^fd:(\d{1,3})$/.exec(text ?? '')
  if (descriptor !== null) return { fd: Number(descriptor[1]) }
  const path = /^unix:(\/.+)$/.exec(text ?? '')
  if (path !== null) return { path: path[1]! }
  const address = /^(?:\[([^\]]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text ?? '')
  if (address === null) throw new Error('DAEMON_LISTEN must be fd:N, unix:/path or host:port')
  const host = address[1] ?? address[2]
  return { host: host === '::' ? undefined : host, port: Number(address[3]) }
}

/**
 * The digest of the key that calls of the system bring: DAEMON_KEY_SHA256 in hexadecimal, for places where all can read
 * how a daemon is started, else that of the first line of standard input. A key itself never stands in an argument or in
 * the environment, where commands see it. Throws an Error that names what is wrong.
 */
export async function readKeyDigest(given: string | undefined): Promise<Buffer> {
  if (given === undefined) return keyDigest(await readKey())
  if (!/^[0-9a-f]{64}$/.test(given)) throw new Error('DAEMON_KEY_SHA256 must be 64 hexadecimal digits')
  return Buffer.from(given, 'hex')
}

async function readKey(): Promise<string> {
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) {
    lines.close()
    process.stdin.destroy()
    if (line.length >= 32) return line
    break
  }
  throw new Error('The first line of standard input must be the key of the daemon, of at least 32 characters')
}
