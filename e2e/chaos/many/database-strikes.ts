import { Client } from 'pg'
import { waitUntil } from '../../system/wait-until.ts'
import type { DatabasePair } from './database-pair.ts'
import type { StrikeKind } from './strike-kinds.ts'

export const promote: StrikeKind = {
  seen: '503 while the address leads to no primary',
  boundsMs: { calls: 30_000 },
  lastsMs: [500, 2000],
  hit: async (system) => {
    await system.database.promote()
    system.turnToPrimary()
    return { what: 'the standby', mend: () => system.database.addStandby() }
  },
}

export const connections: StrikeKind = {
  seen: '503 from replicas that want another connection than those they have',
  boundsMs: { calls: 20_000 },
  lastsMs: [2000, 6000],
  hit: async (system) => {
    const taken: Client[] = []
    for (;;) {
      const client = new Client({ connectionString: system.database.primary.url })
      client.on('error', () => undefined) // the server may end them all
      const isIn = await client.connect().then(
        () => true,
        (error: { code?: string }) => {
          if (error.code !== '53300') throw error // too_many_connections
          return false
        },
      )
      if (!isIn) break
      taken.push(client)
    }
    const mend = async () => {
      await Promise.all(taken.map((client) => client.end()))
    }
    return { what: `${taken.length} taken`, mend }
  },
}

/** Each finds no room: rows that need a further page fail, the log that can't be written ends the server. */
const fillings = {
  rows: `CREATE TABLE public.filling AS SELECT repeat('x', 1000) FROM generate_series(1, 100000)`,
  log: `SELECT pg_logical_emit_message(false, 'filling', repeat('x', 1000000)) FROM generate_series(1, 2000)`,
}

export const disk: StrikeKind = {
  seen: '503 from what must write where there is no room, and while PostgreSQL comes back',
  boundsMs: { calls: 30_000 },
  lastsMs: [1000, 4000],
  lacks: ({ database }) => (database.disk ? undefined : 'a disk of its own wants the rights of root'),
  hit: async ({ database }, random) => {
    const own = database.disk!
    const filling = random.pick(['rows', 'log'] as const)
    await own.fill()
    const code = await database.primary
      .with((connection) => connection.query(fillings[filling]))
      .then(() => undefined, codeOf)
    if (code === undefined) throw new Error('A full disk has taken more')
    const mend = async () => {
      await own.empty()
      await database.revive()
      await waitUntil('room for rows', () => takesRows(database), { timeoutMs: 30_000, everyMs: 100 })
    }
    return { what: `of the primary, ${filling} are refused by ${code}`, mend }
  },
}

const codeOf = (error: { code?: string }) => error.code ?? 'a cut connection'

/** Whether the primary writes a table, and its standby has it as well. */
async function takesRows({ primary }: DatabasePair): Promise<boolean> {
  return primary
    .with(async (connection) => {
      await connection.query(`SET statement_timeout = '10s'; DROP TABLE IF EXISTS public.filling`)
      await connection.query(`CREATE TABLE public.filling AS SELECT repeat('x', 1000) FROM generate_series(1, 10000)`)
      await connection.query('DROP TABLE public.filling')
    })
    .then(
      () => true,
      () => false,
    )
}
