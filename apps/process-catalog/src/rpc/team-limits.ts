import type { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { isUuid } from '@automation/contract/forms'
import { invalid } from '@automation/errors'
import { operatorFor, principalIn, type Handlers } from '@automation/rpc'
import type { Catalog } from '../catalog.ts'
import { listTeamLimits, noteGateway, setTeamLimit } from '../store/team-limits.ts'

/** The limits that there are, with the least and the largest value. */
const ranges: Record<string, readonly [number, number]> = {
  running: [1, 1_000_000],
  queued: [0, 100_000_000],
  stored: [0, Number.MAX_SAFE_INTEGER],
  sandboxes: [0, 100_000],
  runners: [1, 1000],
  callsPerSecond: [1, 1_000_000],
  databaseBytes: [1, Number.MAX_SAFE_INTEGER],
}

/** What single teams may have. */
export function teamLimitHandlers({ store, config }: Catalog): Handlers<typeof TeamLimitService> {
  return {
    async setTeamLimit({ team, name, value }, context) {
      const operator = operatorFor(team, context)
      const range = Object.hasOwn(ranges, name) ? ranges[name] : undefined
      if (range === undefined) throw invalid('/name', `must be one of ${Object.keys(ranges).join(', ')}`)
      const [least, most] = range
      if (value !== undefined && (value < BigInt(least) || value > BigInt(most)))
        throw invalid('/value', `must be a whole number from ${least} to ${most}, or default`)
      await setTeamLimit(store, operator, name, value ?? null)
      return {}
    },

    async listTeamLimits({ knownRevision, gateway }, context) {
      principalIn(context, 'service', 'operator')
      if (gateway !== '' && !isUuid(gateway)) throw invalid('/gateway', 'must be a UUID')
      const gateways = gateway === '' ? 0 : await noteGateway(store, gateway, config.limitsCalls)
      return { ...(await listTeamLimits(store, knownRevision)), gateways }
    },
  }
}
