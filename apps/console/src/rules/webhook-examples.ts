import { quoted } from './as-curl.ts'
import { typeOf } from './webhook-request.ts'
import { signatureHeaders, type Scheme } from './webhook-schemes.ts'

interface Target {
  url: string
  body: string
  /** Of the Basic credentials that the webhook asks for. */
  username?: string
}

const basic = (username: string | undefined): string =>
  username === undefined ? '' : ` -u ${quoted(`${username}:PASSWORD`)}`

/** A call of a webhook by curl that waits for the answer. */
export const plainCurl = ({ url, body, username }: Target): string =>
  `curl -sS ${quoted(url)}${basic(username)} \\
  -H 'Content-Type: ${typeOf(body)}' \\
  -d ${quoted(body)}`

/** A call of a webhook by curl that is answered at once, with the id of the execution. */
export const asyncCurl = (target: Target, headerPrefix: string): string =>
  plainCurl(target).replace(' \\\n', ` \\\n  -H '${headerPrefix}Async: true' \\\n`)

/** A call of a webhook by curl as its sender signs it. */
export function signedCurl({ url, body, username }: Target, scheme: Scheme): string {
  const inShell = (text: string) => text.replaceAll('TIME', '$time').replaceAll('SIGNATURE', '$signature')
  const isTimed = scheme.before !== ''
  const digest =
    scheme.encoding === 'hex'
      ? `openssl dgst -sha256 -hmac "$secret" | sed 's/.*= //'`
      : `openssl dgst -sha256 -hmac "$secret" -binary | base64`
  return [
    `secret='SECRET'`,
    `body=${quoted(body)}`,
    ...(isTimed ? ['time=$(date +%s)'] : []),
    `signature=$(printf %s "${inShell(scheme.before)}$body" | ${digest})`,
    `curl -sS ${quoted(url)}${basic(username)} \\`,
    `  -H 'Content-Type: ${typeOf(body)}' \\`,
    ...signatureHeaders(scheme).map(([name, value]) => `  -H "${name}: ${inShell(value)}" \\`),
    '  -d "$body"',
  ].join('\n')
}

/** How old a signed request may be. */
const MAX_AGE_S = 300

/** Code at the top of a process that refuses requests whose signature is wrong. */
export function signatureCheck(scheme: Scheme, variable: string, language: 'JAVASCRIPT' | 'PYTHON'): string {
  return language === 'PYTHON' ? inPython(scheme, variable) : inJavaScript(scheme, variable)
}

function inJavaScript({ header, prefix, encoding, before, timeHeader }: Scheme, variable: string): string {
  const name = header.toLowerCase()
  const template = (text: string) => text.replace('TIME', '${time}')
  const time = timeHeader
    ? `const time = headers['${timeHeader.toLowerCase()}'] ?? ''`
    : `const time = /^t=(\\d+)/.exec(given.toString())?.[1] ?? ''`
  return [
    `import { createHmac, timingSafeEqual } from 'node:crypto'`,
    '',
    'const { rawBody, isBase64, headers } = svc.context.request',
    `const body = Buffer.from(rawBody, isBase64 ? 'base64' : 'utf8')`,
    `const given = Buffer.from(headers['${name}'] ?? '')`,
    ...(before ? [time] : []),
    `const digest = createHmac('sha256', svc.env.${variable})${before ? `.update(\`${template(before)}\`)` : ''}.update(body).digest('${encoding}')`,
    `const expected = Buffer.from(\`${template(prefix)}\${digest}\`)`,
    'if (given.length !== expected.length || !timingSafeEqual(given, expected))',
    `  return { status: 401, body: { error: 'The signature is wrong' } }`,
    ...(before
      ? [
          `if (!(Math.abs(Date.now() / 1000 - Number(time)) < ${MAX_AGE_S}))`,
          `  return { status: 401, body: { error: 'The request is too old' } }`,
        ]
      : []),
  ].join('\n')
}

function inPython({ header, prefix, encoding, before, timeHeader }: Scheme, variable: string): string {
  const name = header.toLowerCase()
  const signed = before ? `f"${before.replace('TIME', '{at}')}".encode() + body` : 'body'
  const mac = `hmac.new(svc.env["${variable}"].encode(), ${signed}, hashlib.sha256)`
  const digest = encoding === 'hex' ? `${mac}.hexdigest()` : `base64.b64encode(${mac}.digest()).decode()`
  const at = timeHeader
    ? `at = request.headers.get("${timeHeader.toLowerCase()}", "")`
    : `at = given.partition("t=")[2].partition(",")[0]`
  const isOld = `not at.isdigit() or abs(time.time() - int(at)) > ${MAX_AGE_S}`
  return [
    `import base64, hashlib, hmac${before ? ', time' : ''}`,
    '',
    'request = svc.context.request',
    'body = base64.b64decode(request.raw_body) if request.is_base64 else request.raw_body.encode()',
    `given = request.headers.get("${name}", "")`,
    ...(before ? [at] : []),
    `digest = ${digest}`,
    `if not hmac.compare_digest(given.encode(), f"${prefix.replace('TIME', '{at}')}{digest}".encode()):`,
    '    return {"status": 401, "body": {"error": "The signature is wrong"}}',
    ...(before ? [`if ${isOld}:`, '    return {"status": 401, "body": {"error": "The request is too old"}}'] : []),
  ].join('\n')
}
