import { createHash } from 'node:crypto'
import bcrypt from 'bcryptjs'
import { sameText } from './same-text.ts'

/**
 * Whether a password belongs to a hash: bcrypt ($2a$, $2b$, $2x$, $2y$), MD5 in the forms of htpasswd ($apr1$) and of
 * crypt ($1$), or {SHA} with the digest in base64. False for what is none of these. Takes up to seconds: not for a thread
 * that others wait for.
 */
export function matches(password: string, hash: string): boolean {
  if (/^\$2[abxy]\$/.test(hash)) return matchesBcrypt(password, hash)
  const md5 = /^(\$apr1\$|\$1\$)([^$]{0,8})\$[./0-9A-Za-z]{22}$/.exec(hash)
  if (md5 !== null) return sameText(md5Crypt(password, md5[1]!, md5[2]!), hash)
  if (hash.startsWith('{SHA}')) return sameText(`{SHA}${createHash('sha1').update(password).digest('base64')}`, hash)
  return false
}

/** All four are the same algorithm for text in UTF-8; bcryptjs knows one of the names less. */
function matchesBcrypt(password: string, hash: string): boolean {
  return bcrypt.compareSync(password, hash.replace('$2x$', '$2b$'))
}

const alphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The order in which crypt writes the digest: three bytes each as four letters. */
const triples = [
  [0, 6, 12],
  [1, 7, 13],
  [2, 8, 14],
  [3, 9, 15],
  [4, 10, 5],
] as const

/** The MD5 crypt of Poul-Henning Kamp; `magic` is all that differs between its two forms. */
function md5Crypt(text: string, magic: string, saltText: string): string {
  const password = Buffer.from(text)
  const salt = Buffer.from(saltText)
  const mixed = md5(password, salt, password)
  const parts: Buffer[] = [password, Buffer.from(magic), salt]
  for (let left = password.length; left > 0; left -= 16) parts.push(mixed.subarray(0, Math.min(16, left)))
  for (let bits = password.length; bits > 0; bits >>= 1)
    parts.push(bits & 1 ? Buffer.from([0]) : password.subarray(0, 1))
  let digest = md5(...parts)
  for (let round = 0; round < 1000; round++) {
    const odd = round % 2 === 1
    const turn = [odd ? password : digest]
    if (round % 3 !== 0) turn.push(salt)
    if (round % 7 !== 0) turn.push(password)
    digest = md5(...turn, odd ? digest : password)
  }
  const letters = triples.map(([a, b, c]) => encoded((digest[a]! << 16) | (digest[b]! << 8) | digest[c]!, 4))
  return `${magic}${saltText}$${letters.join('')}${encoded(digest[11]!, 2)}`
}

function encoded(value: number, length: number): string {
  return Array.from({ length }, (_, index) => alphabet[(value >> (6 * index)) & 63]).join('')
}

function md5(...parts: Buffer[]): Buffer {
  return createHash('md5').update(Buffer.concat(parts)).digest()
}
