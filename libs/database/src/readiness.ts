import type { Check } from '@automation/service'
import type pg from 'pg'

/** A check that asks the database for one round trip, at most 1 s; askers at the same time share one. */
export function readiness(pool: pg.Pool): () => Promise<Check> {
  let asking: Promise<Check> | undefined
  return () => (asking ??= ask(pool).finally(() => (asking = undefined)))
}

async function ask(pool: pg.Pool): Promise<Check> {
  const { promise: late, resolve } = Promise.withResolvers<Check>()
  const timer = setTimeout(resolve, 1000, { name: 'database', ok: false, detail: 'no answer within 1 s' })
  const answer = pool.query({ text: 'SELECT 1', query_timeout: 1000 } as pg.QueryConfig).then(
    (): Check => ({ name: 'database', ok: true }),
    (): Check => ({ name: 'database', ok: false, detail: 'not reachable' }),
  )
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
