import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { Failure } from '@automation/errors'

/** What a link is for. */
interface LinkTarget {
  team: string
  name: string
}

const algorithm = 'AWS4-HMAC-SHA256'
const region = 'us-east-1'
const longestS = 604_800
const aheadMs = 15 * 60_000
const names = ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature'].map(
  (name) => `X-Amz-${name}`,
)

/**
 * Links to the gateway, signed as S3 signs (Signature Version 4 in the query): over the method GET, the host of the
 * public address, the path with team and name, and the expiry. The keys are derived from those of ENCRYPTION_KEY.
 */
export class SignedUrls {
  readonly #root: URL
  readonly #secrets: Map<string, string>

  constructor(publicUrl: string, encryptionKeys: string[]) {
    this.#root = new URL(publicUrl)
    this.#secrets = new Map(
      encryptionKeys.map((key) => {
        const secret = createHmac('sha256', key).update('signed urls').digest('hex')
        return [createHash('sha256').update(secret).digest('hex').slice(0, 20).toUpperCase(), secret]
      }),
    )
  }

  sign(target: LinkTarget, nowMs: number, expiresInS: number): string {
    const [[keyId, secret] = ['', '']] = this.#secrets
    const date = amzDate(nowMs)
    const given = {
      'X-Amz-Algorithm': algorithm,
      'X-Amz-Credential': `${keyId}/${scopeOf(date)}`,
      'X-Amz-Date': date,
      'X-Amz-Expires': String(expiresInS),
      'X-Amz-SignedHeaders': 'host',
    }
    const query = canonicalQuery(given)
    const path = this.#path(target)
    const signature = this.#signature(secret, { method: 'GET', path, query, date })
    return `${this.#root.origin}${path}?${query}&X-Amz-Signature=${signature}`
  }

  /** Failures (permission_denied): signed_url_invalid, signed_url_expired. */
  check(link: LinkTarget & { method: string; query: string }, nowMs: number): void {
    const given = parametersOf(link.query)
    const { 'X-Amz-Signature': signature, ...signed } = given
    const date = given['X-Amz-Date'] ?? ''
    const expiresInS = Number(given['X-Amz-Expires'])
    const keyId = given['X-Amz-Credential']?.split('/', 1)[0] ?? ''
    const secret = this.#secrets.get(keyId)
    const isOurs =
      secret !== undefined &&
      given['X-Amz-Algorithm'] === algorithm &&
      given['X-Amz-SignedHeaders'] === 'host' &&
      given['X-Amz-Credential'] === `${keyId}/${scopeOf(date)}` &&
      /^[1-9]\d{0,5}$/.test(given['X-Amz-Expires'] ?? '') &&
      expiresInS <= longestS
    if (!isOurs) throw refused()
    const request = { method: link.method, path: this.#path(link), query: canonicalQuery(signed), date }
    if (!same(signature ?? '', this.#signature(secret, request))) throw refused()
    const madeMs = momentOf(date)
    if (Number.isNaN(madeMs) || madeMs > nowMs + aheadMs) throw refused()
    if (nowMs >= madeMs + expiresInS * 1000)
      throw new Failure('permission_denied', 'signed_url_expired', 'The link has expired')
  }

  #path({ team, name }: LinkTarget): string {
    const base = this.#root.pathname.replace(/\/$/, '')
    return `${base}/api/${encoded(team)}/rest/storage/signed/${name.split('/').map(encoded).join('/')}`
  }

  #signature(secret: string, request: { method: string; path: string; query: string; date: string }): string {
    const { method, path, query, date } = request
    const canonical = [method, path, query, `host:${this.#root.host}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n')
    const text = [algorithm, date, scopeOf(date), createHash('sha256').update(canonical).digest('hex')].join('\n')
    const steps = [date.slice(0, 8), region, 's3', 'aws4_request']
    const key = steps.reduce<string | Buffer>((from, step) => hmac(from, step), `AWS4${secret}`)
    return hmac(key, text).toString('hex')
  }
}

function parametersOf(query: string): Record<string, string | undefined> {
  // Counted before it is parsed, which takes ever longer for ever more of them.
  if (query.split('&', names.length + 1).length > names.length) throw refused()
  const all = [...new URLSearchParams(query)]
  const given = Object.fromEntries(all)
  if (all.length !== names.length || !names.every((name) => Object.hasOwn(given, name))) throw refused()
  return given
}

function canonicalQuery(parameters: Record<string, string | undefined>): string {
  return Object.entries(parameters)
    .map(([name, value = '']) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join('&')
}

/** As S3 has it: all but letters, digits and -._~ */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

function scopeOf(date: string): string {
  return `${date.slice(0, 8)}/${region}/s3/aws4_request`
}

function amzDate(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
}

function momentOf(date: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? []
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function same(given: string, right: string): boolean {
  return given.length === right.length && timingSafeEqual(Buffer.from(given, 'latin1'), Buffer.from(right, 'latin1'))
}

function refused(): Failure {
  return new Failure('permission_denied', 'signed_url_invalid', 'The link is not valid')
}
