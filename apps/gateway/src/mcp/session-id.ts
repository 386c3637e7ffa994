const longestName = 200

/**
 * The id of a session of the revisions of 2025. Nothing is kept for it: it tells calls of one client from those of another,
 * and has the name that the client gave itself at its beginning.
 */
export function newSessionId(client: string): string {
  return `${crypto.randomUUID()}.${Buffer.from(client.slice(0, longestName)).toString('base64url')}`
}

/** The name of the client in the id of a session; empty where it has none. */
export function clientOf(sessionId: string): string {
  const encoded = sessionId.split('.')[1] ?? ''
  return Buffer.from(encoded, 'base64url').toString('utf8').slice(0, longestName)
}
