import { isConnectionFailure } from '@automation/database'
import { driverError } from './connections.ts'

const codes = new Set([
  '40P01', // deadlock
  '55P03', // lock not available
  '57014', // the server ended a statement that took too long
])

/** Whether the database is away for all: not where a statement waits for a lock, perhaps for one of its rows only. */
export function isAway(error: unknown): boolean {
  return isConnectionFailure(error) && !isLockFault(error)
}

/** Whether a statement failed, or got no answer in time, as it may when it waits for a lock. */
function isLockFault(error: unknown): boolean {
  const { code, message } = driverError(error)
  return codes.has(String(code)) || message === 'Query read timeout'
}
