const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Whether a text has the form of an id; what has not names no row by id, and needs no query. */
export function isUuid(value: string): boolean {
  return uuid.test(value)
}
