import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import type { JWK } from 'jose'

/** An OIDC issuer of somebody else, as tests use it. */
export interface OutsideIssuer {
  issuer: string
  audience: string
  jwksUrl: string
  privateKey: JWK
}

/** Publishes the keys of an issuer on loopback until it is closed. */
export async function openIssuer(): Promise<OutsideIssuer & { close(): Promise<void> }> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'outside', alg: 'RS256', use: 'sig' }] })
  const server = createServer((_request, response) => response.setHeader('content-type', 'application/json').end(keys))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  }
  return { issuer, audience: 'automation', jwksUrl: `${issuer}/jwks`, privateKey: await exportJWK(privateKey), close }
}
