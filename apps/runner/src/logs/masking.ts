import { inspect } from 'node:util'

const minLength = 4
const minLineLength = 8
const shown = '******'

/** Hides secrets in a text. */
export type Mask = (text: string) => string

const nothing: Mask = (text) => text

/**
 * Makes the mask of a run's secrets, from four characters on: as they are, line by line where they have several, and in
 * base64, URL-encoded, JSON-escaped and inspected form.
 */
export function maskOf(secrets: string[]): Mask {
  const forms = new Set(secrets.filter(({ length }) => length >= minLength).flatMap(formsOf))
  if (forms.size === 0) return nothing
  const longestFirst = [...forms].toSorted((a, b) => b.length - a.length)
  const pattern = new RegExp(longestFirst.map((form) => RegExp.escape(form)).join('|'), 'g')
  return (text) => text.replace(pattern, shown)
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const lines = secret.split(/\r?\n/).filter(({ length }) => length >= minLineLength)
  return [
    secret,
    ...lines,
    ...[secret, ...lines].map(inspected),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
  ]
}

/** As `console.log({ secret })` shows it. */
function inspected(text: string): string {
  return inspect(text, { breakLength: Infinity, maxStringLength: Infinity }).slice(1, -1)
}
