import { parsedExactly } from './exact-json.ts'
import { decoded } from './percent.ts'
import type { TypedRequest } from './webhook-request.ts'

/** What a curl command calls: a webhook with a request, or the start of a process with parameters. */
export type CurlCall =
  | { kind: 'webhook'; slug: string; request: Pick<TypedRequest, 'method' | 'query' | 'headers' | 'body'> }
  | { kind: 'start'; slug: string; parameters: unknown }

const DATA = new Set(['-d', '--data', '--data-raw', '--data-binary', '--json'])
/** What is not taken over: credentials, and what the service sets itself. */
const LEFT_OUT = /^(authorization|x-api-token|cookie|content-length|host):/i

/** Reads a pasted curl command; undefined where it is none, or calls nothing that has a page. */
export function readCurl(text: string): CurlCall | undefined {
  if (!/^\s*(?:\$\s*)?curl\s/.test(text)) return undefined
  const words = wordsOf(text)
  const after = (option: string) => words.flatMap((word, at) => (word === option ? [words[at + 1] ?? ''] : []))
  const url = words.map((word) => URL.parse(word)).find((found) => found?.protocol.startsWith('http'))
  if (url == null) return undefined
  const body = words.flatMap((word, at) => (DATA.has(word) ? [words[at + 1] ?? ''] : [])).join('&')
  const path = url.pathname.split('/').filter((part) => part !== '')
  const [api, , area, kind, named, act = ''] = path
  const slug = decoded((area === 'webhooks' ? kind : named) ?? '')
  if (api !== 'api' || slug === undefined || slug === '') return undefined
  if (area === 'webhooks') {
    const [asked] = [...after('-X'), ...after('--request')]
    const headers = [...after('-H'), ...after('--header')].filter((line) => !LEFT_OUT.test(line)).join('\n')
    const isGet = (asked ?? (body === '' ? 'GET' : 'POST')).toUpperCase() === 'GET'
    const request = { method: isGet ? 'GET' : 'POST', query: url.search.slice(1), headers, body } as const
    return { kind: 'webhook', slug, request }
  }
  if (area === 'rest' && kind === 'processes' && act.startsWith('execute'))
    return { kind: 'start', slug, parameters: parametersOf(body) }
  return undefined
}

function parametersOf(body: string): unknown {
  try {
    return (parsedExactly(body) as { parameters?: unknown }).parameters ?? {}
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return {}
  }
}

/** The words of a command as a shell takes them apart. */
function wordsOf(command: string): string[] {
  const part = String.raw`'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\]`
  const joined = command.replaceAll(/\\\r?\n/g, ' ')
  return [...joined.matchAll(new RegExp(`(?:${part})+`, 'gs'))].map(([word]) =>
    word.replaceAll(new RegExp(part, 'gs'), (piece) => {
      if (piece.startsWith("'")) return piece.slice(1, -1)
      if (piece.startsWith('"')) return piece.slice(1, -1).replaceAll(/\\(["\\$`])/g, '$1')
      return piece.startsWith('\\') ? piece.slice(1) : piece
    }),
  )
}
