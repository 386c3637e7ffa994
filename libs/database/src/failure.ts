import { asFailure, Failure, unavailable } from '@automation/errors'

/**
 * What a database call threw, as a Failure: `unavailable` (503, retry after 1 s) where the database was away, full,
 * shutting down, overloaded or took the transaction back; `internal` with the error as its cause for all else.
 * Accepts errors of pg and of the Prisma client. A store looks at constraint violations before it calls this.
 */
export function databaseFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  return isConnectionFailure(thrown)
    ? unavailable('The database is not available, try again', thrown)
    : asFailure(thrown)
}

/** Whether the call may succeed when it is made again later; whether it took effect is not known. */
export function isConnectionFailure(thrown: unknown): boolean {
  for (const error of chain(thrown)) {
    const code = codeOf(error)
    if (code !== undefined && (transientCodes.has(code) || transientClasses.has(code.slice(0, 2)))) return true
    if (isRefusal(code)) return true
    if (prismaKinds.has(String((error as { kind?: unknown }).kind))) return true
    if (transientTexts.some((text) => messageOf(error).includes(text))) return true
  }
  return false
}

// Classes of SQLSTATE: connection exception, insufficient resources (connections, disk, memory), operator intervention,
// system error outside PostgreSQL.
const transientClasses = new Set(['08', '53', '57', '58'])

// Role and password are not accepted, or there is no such database: both are being changed.
const refusedClasses = new Set(['28', '3D'])
const refusedCodes = new Set(['P1000', 'P1003'])

const transientCodes = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available
  '25006', // read-only: a standby or a fail-over
  '25P03', // idle in transaction for too long
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT', // the socket's file, while PostgreSQL is down
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2028',
  'P2034',
  'P2037',
])

const prismaKinds = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TransactionWriteConflict',
])

// pg and pg-pool give these no code.
const transientTexts = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Query read timeout',
  'timeout expired',
  'Client has encountered a connection error',
  'Cannot use a pool after calling end on the pool',
]

/** Whether the server is there and lets nobody in as this URL says: what only starts is told so, and does not wait. */
export function isRefused(thrown: unknown): boolean {
  for (const error of chain(thrown)) if (isRefusal(codeOf(error))) return true
  return false
}

function isRefusal(code: string | undefined): boolean {
  return code !== undefined && (refusedClasses.has(code.slice(0, 2)) || refusedCodes.has(code))
}

function* chain(thrown: unknown): Iterable<object> {
  let error = thrown
  for (let depth = 0; depth < 6 && typeof error === 'object' && error !== null; depth++) {
    yield error
    if (error instanceof AggregateError) yield* error.errors.filter((one) => typeof one === 'object' && one !== null)
    const { cause, meta } = error as { cause?: unknown; meta?: { driverAdapterError?: unknown } }
    error = cause ?? meta?.driverAdapterError
  }
}

function codeOf(error: object): string | undefined {
  const { code, originalCode } = error as { code?: unknown; originalCode?: unknown }
  if (typeof originalCode === 'string') return originalCode
  return typeof code === 'string' ? code : undefined
}

function messageOf(error: object): string {
  const { message } = error as { message?: unknown }
  return typeof message === 'string' ? message : ''
}
