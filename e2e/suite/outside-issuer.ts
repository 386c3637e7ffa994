import { createServer } from 'node:http'
import { listening } from '@automation/testing/listening'
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
  const { url: issuer, close } = await listening(server)
  return { issuer, audience: 'automation', jwksUrl: `${issuer}/jwks`, privateKey: await exportJWK(privateKey), close }
}
