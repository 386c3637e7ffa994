import type { Random } from '@automation/testing/random'
import type { Link, ManySystem } from './many-system.ts'
import { someReplica } from './replica-strikes.ts'
import type { StrikeKind } from './strike-kinds.ts'

/** The links that runs go over, from service to service or server, and how often each is meant. */
const weights = {
  'gateway execution': 5,
  'gateway process-catalog': 2,
  'execution process-catalog': 3,
  'runner execution': 5,
  'runner storage': 1,
  'scheduler execution': 3,
  'scheduler process-catalog': 1,
  'execution postgres': 4,
  'scheduler postgres': 2,
  'process-catalog postgres': 2,
  'storage postgres': 1,
}

function someLink(system: ManySystem, random: Random): Link {
  const [from, to] = random.weighted(weights).split(' ') as [string, string]
  const isOf = (name: string, service: string) => name === service || name.replace(/-\d+$/, '') === service
  return random.pick(system.links.filter((link) => isOf(link.from, from) && isOf(link.to, to)))
}

export const partition: StrikeKind = {
  seen: 'calls that would go over the link wait, answer 503 or 504, or go another way',
  boundsMs: { calls: 20_000 },
  lastsMs: [2000, 8000],
  hit: async (system, random) => {
    const { from, to, proxy } = someLink(system, random)
    const isSilent = random.happens(0.7)
    if (isSilent) proxy.freeze()
    else proxy.refuse()
    return { what: `${from} → ${to} ${isSilent ? 'says nothing' : 'refuses'}`, mend: async () => proxy.open() }
  },
}

export const slow: StrikeKind = {
  seen: 'calls over the link take longer',
  boundsMs: { calls: 15_000 },
  lastsMs: [2000, 6000],
  hit: async (system, random) => {
    const { from, to, proxy } = someLink(system, random)
    const latencyMs = random.between(50, 400)
    proxy.delayBy(latencyMs)
    return { what: `${from} → ${to} by ${latencyMs} ms`, mend: async () => proxy.delayBy(0) }
  },
}

export const names: StrikeKind = {
  seen: 'nothing from replicas that have found the others; the one that starts meanwhile is not ready until names lead somewhere',
  boundsMs: { calls: 15_000 },
  lastsMs: [2000, 6000],
  hit: async (system, random) => {
    for (const replica of system.replicas) replica.surround({ namesAway: true })
    const started = someReplica(system, random)
    await started.kill()
    started.start()
    const mend = async () => {
      for (const replica of system.replicas) replica.surround()
    }
    return { what: `and ${started.name} starts`, mend }
  },
}
