import { createHash } from 'node:crypto'

/** The partition of an execution's events: spread evenly, the same for the same number of partitions. */
export function partitionOf(executionId: string, partitions: number): number {
  return createHash('sha1').update(executionId).digest().readUInt32BE() % partitions
}
