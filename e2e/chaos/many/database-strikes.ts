import { Client } from 'pg'
import type { StrikeKind } from './strike-kinds.ts'

export const promote: StrikeKind = {
  seen: '503 while the address leads to no primary',
  boundMs: 30_000,
  lastsMs: [500, 2000],
  hit: async (system) => {
    await system.database.promote()
    system.turnToPrimary()
    return { what: 'the standby', mend: () => system.database.addStandby() }
  },
}

export const connections: StrikeKind = {
  seen: '503 from replicas that want another connection than those they have',
  boundMs: 20_000,
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
