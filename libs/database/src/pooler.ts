import pg from 'pg'

/**
 * Whether a URL leads through a pooler that gives each transaction another connection, as PgBouncer does in transaction
 * mode: it has `pgbouncer=true` then, as Prisma knows it.
 */
export function throughPooler(url: string): boolean {
  return /[?&]pgbouncer=true(&|$)/.test(url)
}

type Done = (error: Error | undefined, result?: pg.QueryResult) => void
type Statement = pg.QueryConfig & { query_timeout?: number }
type Query = (statement: Statement) => Promise<pg.QueryResult>

const begins = /^\s*(BEGIN|START TRANSACTION)\b/i
const ends = /^\s*(COMMIT|ROLLBACK(?! TO\b))/i
/** What PostgreSQL refuses within a transaction; such a statement names the schema of what it is about. */
const outside = /\bCONCURRENTLY\b/

/**
 * Makes a connection one that needs nothing of the session behind it: each transaction begins with the settings, a
 * statement alone is a transaction of its own, and none is prepared. BEGIN, statement and COMMIT leave together, so that
 * they take one round trip: the connection must be opened with `pipeline`.
 */
export function withoutSession(client: pg.ClientBase, settings: Record<string, string>): void {
  const query = client.query.bind(client) as Query
  const begin = Object.entries(settings).map(([name, value]) => `; SET LOCAL ${name} TO ${listed(value)}`)
  let isOpen = false

  const run = ({ name: _, ...statement }: Statement): Promise<pg.QueryResult> => {
    const { text } = statement
    if (begins.test(text)) {
      isOpen = true
      return query({ text: text + begin.join('') })
    }
    if (isOpen) {
      if (ends.test(text)) isOpen = false
      return query(statement)
    }
    return outside.test(text) ? query(statement) : alone(query, begin.join(''), statement)
  }

  const shown = (given: string | Statement, values?: unknown[] | Done, done?: Done): Promise<pg.QueryResult> | void => {
    const listener = typeof values === 'function' ? values : done
    const statement = typeof given === 'string' ? { text: given } : given
    const result = run(Array.isArray(values) ? { ...statement, values } : statement)
    if (listener === undefined) return result
    void result.then(
      (answer) => listener(undefined, answer),
      (error: Error) => listener(error),
    )
  }
  client.query = shown as typeof client.query
}

/** Fails with what has failed first. Where that is the COMMIT, the outcome is unknown, as ever. */
async function alone(query: Query, settings: string, statement: Statement): Promise<pg.QueryResult> {
  const { query_timeout: timeout } = statement
  const patience = timeout === undefined ? '' : `; SET LOCAL statement_timeout TO ${timeout + 500}`
  const timed = (text: string): Statement => (timeout === undefined ? { text } : { text, query_timeout: timeout })
  const [begun, made, ended] = await Promise.allSettled([
    query(timed(`BEGIN${settings}${patience}`)),
    query(statement),
    query(timed('COMMIT')),
  ])
  if (begun.status === 'rejected') throw begun.reason
  if (made.status === 'rejected') throw made.reason
  if (ended.status === 'rejected') throw ended.reason
  return made.value
}

/** A list stays one: a text with a comma in it would be one name. */
function listed(value: string): string {
  return value
    .split(',')
    .map((one) => pg.escapeLiteral(one))
    .join(', ')
}
