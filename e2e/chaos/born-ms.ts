/** The instant in an id itself (UUIDv7), in milliseconds since the Unix epoch. */
export function bornMs(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
}
