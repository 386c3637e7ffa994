import { SignJWT } from 'jose'

export const signingAlgorithm = 'ES256'

/** The one scope that there is. */
export const scope = 'executor'

export interface AccessTokenClaims {
  /** The address of the system, PUBLIC_URL. */
  issuer: string
  clientId: string
  /** What `createdBy` shows. */
  name: string
  team: string
  issuedAtS: number
  ttlS: number
  id: string
}

/** Signs an access token: a JWT whose `groups` names the one team that it is for. */
export function signAccessToken(claims: AccessTokenClaims, kid: string, key: CryptoKey): Promise<string> {
  const { issuer, clientId, name, team, issuedAtS, ttlS, id } = claims
  return new SignJWT({ client_id: clientId, name, groups: [team], scope })
    .setProtectedHeader({ alg: signingAlgorithm, kid, typ: 'JWT' })
    .setIssuer(issuer)
    .setSubject(clientId)
    .setIssuedAt(issuedAtS)
    .setExpirationTime(issuedAtS + ttlS)
    .setJti(id)
    .sign(key)
}
