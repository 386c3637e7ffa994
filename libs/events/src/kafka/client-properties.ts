import { readFileSync } from 'node:fs'

/** How the service shows brokers who it is. */
export interface KafkaSecurity {
  /** Absent: plain text. The texts are PEM. */
  tls?: { ca?: string; cert?: string; key?: string }
  sasl?: { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string }
}

/** What the other words of Kafka's clients would ask for is refused rather than left out. */
const words = {
  protocol: ['security.protocol'],
  mechanism: ['sasl.mechanism', 'sasl.mechanisms'],
  jaas: ['sasl.jaas.config'],
  username: ['sasl.username'],
  password: ['sasl.password'],
  ca: ['ssl.ca.pem', 'ssl.truststore.certificates'],
  caFile: ['ssl.ca.location', 'ssl.truststore.location'],
  cert: ['ssl.certificate.pem', 'ssl.keystore.certificate.chain'],
  certFile: ['ssl.certificate.location'],
  key: ['ssl.key.pem', 'ssl.keystore.key'],
  keyFile: ['ssl.key.location'],
  /** Stores are PEM here, and need not say so. */
  storeType: ['ssl.truststore.type', 'ssl.keystore.type'],
} as const
const protocols = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL']
const mechanisms = { PLAIN: 'plain', 'SCRAM-SHA-256': 'scram-sha-256', 'SCRAM-SHA-512': 'scram-sha-512' } as const

/**
 * Reads the properties by which a client of Kafka is told how to sign in: the words of its Java client and of
 * librdkafka. Faults are noted in words that hold no value.
 */
export function kafkaSecurity(text: string, fault: (text: string) => void): KafkaSecurity {
  const given = properties(text)
  const known = new Set<string>(Object.values(words).flat())
  const unknown = [...given.keys()].filter((name) => !known.has(name))
  if (unknown.length > 0) fault(`${nameOf(unknown)}; the service knows ${[...known].join(', ')}`)
  const said = (part: keyof typeof words) => words[part].map((name) => given.get(name)).find(Boolean)

  const protocol = said('protocol')?.toUpperCase() ?? 'PLAINTEXT'
  if (!protocols.includes(protocol)) fault(`must have one of ${protocols.join(', ')} as security.protocol`)
  if (said('storeType') !== undefined && said('storeType') !== 'PEM') fault('must have stores of the type PEM')
  const pem = (part: 'ca' | 'cert' | 'key') =>
    said(part) ??
    fileText(said(`${part}File`), (code) =>
      fault(`names a file that can't be read: ${words[`${part}File`][0]}, ${code}`),
    )
  const tls = { ca: pem('ca'), cert: pem('cert'), key: pem('key') }
  if ((tls.cert === undefined) !== (tls.key === undefined)) fault('must have a certificate with its key, or neither')
  const isTls = protocol.endsWith('SSL')
  if (!isTls && Object.values(tls).some((part) => part !== undefined))
    fault('must have SSL or SASL_SSL as security.protocol where it has certificates')

  const signsIn = protocol.startsWith('SASL_')
  const mechanism = mechanisms[(said('mechanism') ?? '').toUpperCase() as keyof typeof mechanisms]
  const jaas = jaasOptions(said('jaas') ?? '')
  const username = said('username') ?? jaas.get('username')
  const password = said('password') ?? jaas.get('password')
  if (!signsIn && [said('mechanism'), username, password].some((part) => part !== undefined))
    fault('must have SASL_PLAINTEXT or SASL_SSL as security.protocol where it has a mechanism, a name or a password')
  if (signsIn && mechanism === undefined)
    fault(`must have one of ${Object.keys(mechanisms).join(', ')} as sasl.mechanism`)
  if (signsIn && (username === undefined || password === undefined))
    fault('must have username and password, in sasl.jaas.config or as sasl.username and sasl.password')
  return {
    tls: isTls ? tls : undefined,
    sasl: signsIn ? { mechanism: mechanism ?? 'plain', username: username ?? '', password: password ?? '' } : undefined,
  }
}

function fileText(path: string | undefined, fault: (code: string) => void): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    fault((error as NodeJS.ErrnoException).code ?? 'unknown')
    return undefined
  }
}

/** What is refused, without what may be a piece of a secret: a line that belongs to the value above it looks like a name. */
function nameOf(unknown: string[]): string {
  const named = unknown.filter((name) => ofKafka.test(name))
  const others = unknown.length - named.length
  return [
    ...(named.length > 0 ? [`has properties that it can't have: ${named.join(', ')}`] : []),
    ...(others > 0 ? [`has lines that are no properties: ${others} (a value goes on behind a backslash)`] : []),
  ].join(' and ')
}

const ofKafka = /^(?:ssl|sasl|security|bootstrap|client)(?:\.[a-z]{1,20}){1,5}$/
/** One after the other, as a chain of certificates. */
const pemText = /(?:-----BEGIN [A-Z ]{1,40}-----[^-]*-----END [A-Z ]{1,40}-----(?:\s+(?=-----BEGIN ))?)+/g

/**
 * A file of properties as Java reads it: lines go on behind a backslash at their end, # and ! begin a comment. Texts in
 * PEM may have their own lines.
 */
function properties(given: string): Map<string, string> {
  const text = given.replaceAll(pemText, (pem) => pem.replaceAll(/(?:\\n)?\\?\r?\n[ \t]*/g, '\\n'))
  const lines = text.replaceAll(/^[ \t]*[#!].*$/gm, '').replaceAll(/\\\r?\n[ \t]*/g, '')
  const found = new Map<string, string>()
  for (const line of lines.split(/\r?\n/)) {
    const [, name, value] = /^\s*([^\s=:]+)\s*[=:]?\s*(.*)$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) found.set(name, unescaped(value.trimEnd()))
  }
  return found
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', f: '\f' }

function unescaped(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, code: string | undefined, sign: string) =>
    code === undefined ? (escapes[sign] ?? sign) : String.fromCharCode(parseInt(code, 16)),
  )
}

/** The options of a JAAS login module: `name="value"`. */
function jaasOptions(text: string): Map<string, string> {
  const options = text.matchAll(/\b(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"/g)
  return new Map([...options].map(([, name = '', value = '']) => [name, value.replaceAll(/\\(.)/g, '$1')]))
}
