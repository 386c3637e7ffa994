import { SignJWT } from 'jose'
import { internalKey } from './shapes.ts'

/** The authorization of a service, with `change` in its claims; `iat` and `exp` are seconds from now. */
export async function bearer(change: Record<string, unknown>): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const { iat = 0, exp = 60, ...claims } = change as { iat?: number; exp?: number }
  const endless = 'exp' in change && change['exp'] === undefined
  const payload = { role: 'user', team: 'demo', name: 'n', sub: 's', aud: 'automation-internal', ...claims }
  const token = await new SignJWT({ ...payload, iat: now + iat, ...(endless ? {} : { exp: now + exp }) })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(internalKey))
  return `Bearer ${token}`
}
