import type { ServerResponse } from 'node:http'

export type AnswerHeaders = Record<string, string | string[]>

/** A whole HTTP answer, decided but not yet written. An empty body writes no content type of its own. */
export interface Answer {
  status: number
  headers: AnswerHeaders
  body: string | Uint8Array
}

/** Writes an answer in one piece. Does nothing when the client has gone or something was answered already. */
export function send(outgoing: ServerResponse, answer: Answer): void {
  if (outgoing.headersSent || outgoing.destroyed) return
  const { status, headers, body } = answer
  if (status !== 204 && status !== 304)
    headers['Content-Length'] = String(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength)
  outgoing.writeHead(status, headers)
  outgoing.end(body)
}
