import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { served } from '@automation/rpc'
import { serve, TlsFolder, WireNetwork } from '@automation/rpc/wire'
import { silentLogger, TestAuthority, until, writeTlsFolder } from '@automation/testing'
import { afterAll, expect, test } from 'vitest'
import { call, handlers, internalKey } from './shapes.ts'
import { ProbeService } from './probe/probe_pb.ts'

const [authority, stranger] = [new TestAuthority(), new TestAuthority()]
const closing: (() => unknown)[] = [() => authority.remove(), () => stranger.remove()]
afterAll(() => Promise.all(closing.map((close) => close())))

function folderOf(issuer = authority, names?: string, trusted = authority.ca): string {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'))
  closing.push(() => rmSync(folder, { recursive: true }))
  writeTlsFolder(folder, issuer.issue(names), trusted)
  return folder
}

function tlsOf(folder: string): TlsFolder {
  const tls = new TlsFolder(folder, { logger: silentLogger, lookEveryMs: 20 })
  closing.unshift(() => tls.close())
  return tls
}

async function serverWith(tls: TlsFolder | undefined): Promise<number> {
  const options = { host: '127.0.0.1', port: 0, internalKey, maxMessageBytes: 1000, logger: silentLogger, tls }
  const server = await serve([served(ProbeService, handlers())], options)
  closing.unshift(() => server.close(0))
  return server.port
}

function probeAt(address: string, tls: TlsFolder | undefined) {
  const network = new WireNetwork({
    addresses: { probe: [address] },
    key: { internalKey },
    maxMessageBytes: 1000,
    tls,
    connectWithinMs: 300,
  })
  closing.unshift(() => network.close())
  return network.client(ProbeService)
}

/** The number of the certificate that a new connection is shown. */
async function serialAt(port: number, folder: { cert: string; key: string }): Promise<string> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    servername: 'localhost',
    ALPNProtocols: ['h2'],
    ca: bundle,
    ...folder,
  })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

const bundle = authority.ca + stranger.ca

test('services with certificates call each other, by name and by address', async () => {
  const port = await serverWith(tlsOf(folderOf()))
  const tls = tlsOf(folderOf())
  for (const host of ['localhost', '127.0.0.1']) await probeAt(`${host}:${port}`, tls).ask({}, call())
})

test('whoever has no certificate, or one of another authority, is refused with the right key in hand', async () => {
  const port = await serverWith(tlsOf(folderOf()))
  const away = { kind: 'unavailable' }
  for (const tls of [undefined, tlsOf(folderOf(stranger))])
    await expect(probeAt(`localhost:${port}`, tls).ask({}, call())).rejects.toMatchObject(away)
})

test('a server without TLS, of another authority, or of another name is not spoken to', async () => {
  const tls = tlsOf(folderOf())
  const away = { kind: 'unavailable' }
  for (const other of [
    undefined,
    tlsOf(folderOf(stranger, undefined, bundle)),
    tlsOf(folderOf(authority, 'DNS:elsewhere')),
  ]) {
    const port = await serverWith(other)
    for (const host of ['localhost', '127.0.0.1'])
      await expect(probeAt(`${host}:${port}`, tls).ask({}, call())).rejects.toMatchObject(away)
  }
})

test('a certificate, and then its authority, is replaced under load, and no call fails', async () => {
  const folder = folderOf()
  const tls = tlsOf(folder)
  const port = await serverWith(tls)
  let calls = 0
  let over = false
  const load = (async () => {
    // Each on a new connection.
    for (; !over; calls += 1) {
      const network = new WireNetwork({
        ...{ addresses: { probe: [`127.0.0.1:${port}`] }, key: { internalKey }, maxMessageBytes: 1000, tls },
      })
      await network.client(ProbeService).ask({}, call())
      network.close()
    }
  })()
  const steps: [TestAuthority, string][] = [
    [authority, authority.ca],
    [authority, bundle],
    [stranger, bundle],
    [stranger, stranger.ca],
  ]
  let last = await serialAt(port, authority.issue())
  for (const [issuer, ca] of steps) {
    const issued = issuer.issue()
    writeTlsFolder(folder, issued, ca)
    await until(async () => (await serialAt(port, issued)) !== last)
    last = await serialAt(port, issued)
    const reached = calls + 3
    await until(() => calls >= reached)
  }
  over = true
  await load
  await expect(probeAt(`127.0.0.1:${port}`, tlsOf(folderOf())).ask({}, call())).rejects.toMatchObject({
    kind: 'unavailable',
  })
})

test('files that do not fit each other are left alone until they do', async () => {
  const folder = folderOf()
  const warned: string[] = []
  const logger = { info: () => undefined, warn: ({ fault }: { fault?: string }) => void warned.push(fault ?? '') }
  const tls = new TlsFolder(folder, { logger, lookEveryMs: 20 })
  closing.unshift(() => tls.close())
  const port = await serverWith(tls)
  const next = authority.issue()
  writeFileSync(join(folder, 'tls.key'), next.key)
  await until(() => warned.length === 1)
  expect(warned).toEqual(['tls.key is not the key of tls.crt'])
  await probeAt(`127.0.0.1:${port}`, tls).ask({}, call())
  const before = await serialAt(port, next)
  writeFileSync(join(folder, 'tls.crt'), next.cert)
  await until(async () => (await serialAt(port, next)) !== before)
})

test('a folder that lacks a file is refused with its name', () => {
  const folder = folderOf()
  rmSync(join(folder, 'ca.crt'))
  expect(() => tlsOf(folder)).toThrow("ca.crt can't be read: ENOENT")
})
