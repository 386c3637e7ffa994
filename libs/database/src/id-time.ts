/** Unix time in ms that a UUIDv7 was made at. */
export function createdAtMs(id: string): number {
  return parseInt(id.slice(0, 8), 16) * 65_536 + parseInt(id.slice(9, 13), 16)
}

/** The smallest id that can be made at this time (Unix ms): a bound for ranges of ids. */
export function lowestIdAt(timeMs: number): string {
  const hex = Math.min(Math.max(Math.ceil(timeMs), 0), 0xffff_ffff_ffff)
    .toString(16)
    .padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
