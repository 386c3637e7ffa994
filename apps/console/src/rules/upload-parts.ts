export interface Part {
  /** From 1 on. */
  number: number
  from: number
  to: number
}

/** The parts of a file of `size` bytes, each of `partSize` but the last. */
export function partsOf(size: number, partSize: number): Part[] {
  const count = Math.max(1, Math.ceil(size / partSize))
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    from: index * partSize,
    to: Math.min((index + 1) * partSize, size),
  }))
}

/** Those that the service has not, or has with another size. */
export function missingParts(parts: readonly Part[], present: readonly { number: number; size: number }[]): Part[] {
  const sizes = new Map(present.map(({ number, size }) => [number, size]))
  return parts.filter(({ number, from, to }) => sizes.get(number) !== to - from)
}

/** How long to wait before the next attempt, in milliseconds: longer each time, at most 30 s. */
export const pauseMs = (failures: number): number => Math.min(1000 * 2 ** (failures - 1), 30_000)
