import type pg from 'pg'
import { databaseFailure, TeamShare, isConnectionFailure } from '@automation/database'
import { Failure } from '@automation/errors'

/** Prepared where it has a name. */
type Statement = pg.QueryConfig & {
  /** In ms, where it is not that of the pool. */
  query_timeout?: number
}

/** What makes statements. */
export interface Queries {
  query<R extends pg.QueryResultRow>(statement: string | Statement, values?: unknown[]): Promise<pg.QueryResult<R>>
}

/** A pool as the rest of the service knows it: what fails there is a Failure, `unavailable` while the database is away. */
export class Connections implements Queries {
  /** For work that keeps a connection for itself. */
  readonly pool: pg.Pool
  readonly #share: TeamShare

  constructor(pool: pg.Pool) {
    this.pool = pool
    this.#share = new TeamShare(pool.options.max)
  }

  query<R extends pg.QueryResultRow>(statement: string | Statement, values?: unknown[]): Promise<pg.QueryResult<R>> {
    return this.pool.query<R>(statement, values).catch(refuse)
  }

  /** The rows alone, for who makes statements of its own. */
  readonly rows = async <R extends pg.QueryResultRow>(statement: Statement): Promise<R[]> =>
    (await this.query<R>(statement)).rows

  /** The same as a team may use it: by its share of the connections. */
  forTeam(team: string): Queries {
    return { query: (statement, values) => this.#share.use(team, () => this.query(statement, values)) }
  }

  /** Statements of one transaction, on one connection. */
  async transaction<T>(work: (client: Queries) => Promise<T>): Promise<T> {
    const client = await this.pool.connect().catch(refuse)
    let failure: Error | undefined
    try {
      await client.query('BEGIN')
      const result = await work(client)
      await client.query('COMMIT')
      return result
    } catch (error) {
      failure = error as Error
      return refuse(error)
    } finally {
      // A connection in an unknown state is not used again.
      client.release(failure)
    }
  }
}

/** Throws it as the rest of the service knows it. */
export function refuse(thrown: unknown): never {
  throw databaseFailure(thrown)
}

/** What the driver threw. */
export function driverError(error: unknown): { code?: unknown; message?: unknown } {
  return (error instanceof Failure ? (error.cause ?? error) : error) as { code?: unknown; message?: unknown }
}

/** Whether an index refused what there may be once. */
export function isTaken(error: unknown): boolean {
  return driverError(error).code === '23505'
}

const codes = new Set([
  '40P01', // deadlock
  '55P03', // lock not available
  '57014', // the server ended a statement that took too long
])

/** Whether the database is away for all: not where a statement waits for a lock, perhaps for one of its rows only. */
export function isAway(error: unknown): boolean {
  return isConnectionFailure(error) && !isLockFault(error)
}

/** Whether nothing of a statement was written, as the database took it back that is there: it waited too long for a lock. */
export function isTakenBack(error: unknown): boolean {
  return codes.has(String(driverError(error).code))
}

const noConnection = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  '53300',
  '57P03',
])
const noConnectionText = /^(timeout exceeded when trying to connect|Connection terminated due to connection timeout)$/

/** Whether a statement was not even sent, as there was no connection for it. */
export function isUnsent(error: unknown): boolean {
  const { code, message } = driverError(error)
  return noConnection.has(String(code)) || noConnectionText.test(String(message))
}

/** Whether a statement failed, or got no answer in time, as it may when it waits for a lock. */
function isLockFault(error: unknown): boolean {
  return isTakenBack(error) || driverError(error).message === 'Query read timeout'
}
