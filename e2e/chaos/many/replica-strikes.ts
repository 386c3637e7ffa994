import type { Random } from '@automation/testing/random'
import type { ManySystem } from './many-system.ts'
import type { Replica, ServiceName } from './replica.ts'
import type { StrikeKind } from './strike-kinds.ts'

/** How often each is meant: most is at stake in execution and runners. */
const weights: Record<ServiceName, number> = {
  execution: 6,
  runner: 5,
  gateway: 3,
  scheduler: 3,
  'process-catalog': 3,
  storage: 1,
  sandbox: 1,
}

/** A replica, by weights. */
export function someReplica(system: ManySystem, random: Random): Replica {
  return random.pick(system.of(random.weighted(weights)))
}

const hourMs = 3_600_000

export const kill: StrikeKind = {
  seen: 'calls on their way through the replica break, or answer 503; runs of a killed runner end as ERROR "runner lost"',
  boundsMs: { calls: 15_000 },
  lastsMs: [300, 1500],
  hit: async (system, random) => {
    const replica = someReplica(system, random)
    await replica.kill()
    return { what: replica.name, mend: async () => replica.start() }
  },
}

export const freeze: StrikeKind = {
  seen: 'calls on their way through the replica wait or answer 503 or 504; runs of a frozen runner end as ERROR "runner lost"',
  boundsMs: { calls: 20_000 },
  lastsMs: [2000, 8000],
  hit: async (system, random) => {
    const replica = someReplica(system, random)
    replica.freeze()
    return { what: replica.name, mend: async () => replica.thaw() }
  },
}

export const roll: StrikeKind = {
  seen: 'nothing, but calls that a gateway was about to read',
  boundsMs: { calls: 15_000 },
  lastsMs: [0, 0],
  hit: async (system, random) => {
    const service = random.weighted(weights)
    for (const replica of system.of(service)) {
      await replica.stop()
      replica.start()
      await replica.ready()
    }
    return { what: `all of ${service}`, mend: async () => undefined }
  },
}

export const clock: StrikeKind = {
  seen: 'calls through the replica may be refused, since the signatures of calls between services hold for a minute',
  boundsMs: { calls: 20_000 },
  lastsMs: [2000, 5000],
  hit: async (system, random) => {
    const replica = someReplica(system, random)
    const clockAheadMs = random.pick([-hourMs, -30_000, 30_000, hourMs])
    replica.surround({ clockAheadMs })
    const text = `${replica.name} by ${clockAheadMs > 0 ? '+' : ''}${clockAheadMs / 1000} s`
    return { what: text, mend: async () => replica.surround() }
  },
}
