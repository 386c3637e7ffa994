import type { AnswerHeaders } from '../http/exchange.ts'

/** What a document of the console may do. */
interface PageRules {
  nonce: string
  /** Its styles are put in by a program that knows no nonce. */
  anyStyle?: boolean
  /** Origins that may show it within their pages; nobody where there are none. */
  frameAncestors?: readonly string[]
}

/** The Content-Security-Policy of a document. */
export function pagePolicy({ nonce, anyStyle = false, frameAncestors = [] }: PageRules): string {
  const ancestors = frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${anyStyle ? "'unsafe-inline'" : `'nonce-${nonce}'`}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${ancestors}`,
  ].join('; ')
}

/** The policy of what is no document of the console: a browser that opens it runs nothing of it. */
export const contentPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

/** The policy of a program, which counts where it runs as a worker. */
export const programPolicy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'; frame-ancestors 'none'"

/** What every answer of the console has. */
export const consoleHeaders: AnswerHeaders = {
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
}
