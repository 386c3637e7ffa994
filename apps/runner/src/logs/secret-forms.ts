/*
 * The forms in which a secret may stand in a text: as it is, line by line, in base64 and in hex. Escapes are no forms:
 * `escapes.ts` undoes them.
 */

/** Texts of fewer characters are no secrets. */
export const minLength = 4
/** Longer forms are told apart by so many of their first characters. */
export const headLength = 16
const minLineLength = 8
// Forms of longer secrets are made when a text may hold them.
const smallLength = 4096
const sampleLength = 96
const maxLines = 100_000
const wrapsAt = [64, 76]

/** One form of a secret. */
export interface Form {
  /** Its first characters, `headLength` of them where it has as many. */
  head: string
  /** It is at hand; else `text` makes it anew. */
  isSmall: boolean
  text(): string
  /** In base64: the character before, or behind, holds bits of the secret, too. */
  bitsBefore: boolean
  bitsAfter: boolean
}

interface Coding {
  make(secret: string): string
  /** Other bytes in front, where it is base64. */
  offset?: number
}

const codings: Coding[] = [
  { make: (secret) => secret },
  ...(['base64', 'base64url'] as const).flatMap((alphabet) =>
    [0, 1, 2].map((offset) => ({ offset, make: (secret: string) => base64(secret, offset, alphabet) })),
  ),
  { make: (secret) => hex(secret) },
  { make: (secret) => hex(secret).toUpperCase() },
  // As Node shows a Buffer.
  { make: (secret) => hex(secret).replace(/..\B/g, '$& ') },
]

/** All forms of these secrets, each once. */
export function formsOf(secrets: string[]): Form[] {
  const whole = new Set(
    secrets.flatMap((secret) => [secret, secret.trim()]).filter(({ length }) => length >= minLength),
  )
  const small = new Map<string, Form>()
  const large: Form[] = []
  const add = (text: string, coding: Partial<Form> = {}) => {
    if (text.length < minLength || small.has(text)) return
    small.set(text, { ...formOf(text.slice(0, headLength), () => text, true), ...coding })
  }
  for (const secret of whole) {
    for (const coding of codings) {
      const bits = bitsOf(secret, coding)
      if (secret.length <= smallLength) add(coding.make(secret), bits)
      else {
        const head = coding.make(secret.slice(0, sampleLength)).slice(0, headLength)
        large.push({ ...formOf(head, () => coding.make(secret), false), ...bits })
      }
    }
    if (secret.length <= smallLength) for (const piece of wrapped(secret)) add(piece, { bitsAfter: true })
  }
  const lines = [...whole].flatMap(linesOf).filter(({ length }) => length >= minLineLength)
  for (const line of lines.slice(0, maxLines)) add(line)
  return [...small.values(), ...large]
}

/** The lines of a secret that has several, else none. */
export function linesOf(secret: string): string[] {
  const lines = secret.trim().split(/\r?\n/)
  return lines.length > 1 ? lines : []
}

const formOf = (head: string, text: () => string, isSmall: boolean): Form => ({
  head,
  text,
  isSmall,
  bitsBefore: false,
  bitsAfter: false,
})

function bitsOf(secret: string, { offset }: Coding): Pick<Form, 'bitsBefore' | 'bitsAfter'> {
  if (offset === undefined) return { bitsBefore: false, bitsAfter: false }
  return { bitsBefore: offset > 0, bitsAfter: (offset + Buffer.byteLength(secret)) % 3 > 0 }
}

const hex = (secret: string) => Buffer.from(secret).toString('hex')

/** The characters of base64 that hold bits of the secret alone, when `offset` other bytes stand in front of it. */
function base64(secret: string, offset: number, alphabet: 'base64' | 'base64url'): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
  return bytes.toString(alphabet).slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6))
}

/** The lines of its base64 when that is wrapped, as mail and command lines do. */
function wrapped(secret: string): string[] {
  const text = base64(secret, 0, 'base64')
  return wrapsAt
    .filter((width) => text.length > width)
    .flatMap((width) => text.match(new RegExp(`.{1,${width}}`, 'g')) ?? [])
    .filter(({ length }) => length >= minLineLength)
}
