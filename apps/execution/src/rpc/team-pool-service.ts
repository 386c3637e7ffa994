import { recordAudit, type AuditEntry } from '@automation/audit'
import { AuditType } from '@automation/contract/audit/v1/audit'
import type { PoolTokenService, TeamPoolService } from '@automation/contract/execution/v1/team_pool'
import { isTeamSlug, isUuid } from '@automation/contract/forms'
import { Failure, invalid, notFound } from '@automation/errors'
import { operatorFor, principalIn, type CallContext, type Handlers } from '@automation/rpc'
import { v7 } from 'uuid'
import { checkLabelForm } from '../dispatch/introduction.ts'
import type { KnownPools } from '../dispatch/known-pools.ts'
import { newPoolToken, type PoolTokens } from '../dispatch/pool-tokens.ts'
import { withoutToken, type Sessions } from '../dispatch/sessions.ts'
import type { Runners } from '../dispatch/runners.ts'
import type { Connections, Queries } from '../store/connections.ts'
import {
  insertPool,
  insertToken,
  isInUse,
  readPool,
  readPoolRecords,
  removePool,
  revokeToken,
} from '../store/team-pools.ts'

const mostTokens = 100
const longestLifeMs = 10 * 365 * 86_400_000

interface TeamPoolContext {
  pool: Connections
  knownPools: KnownPools
  sessions: Sessions
  runners: Runners
}

/** Pools of one team each and their tokens, as an operator makes them. */
export function teamPoolService({
  pool,
  knownPools,
  sessions,
  runners,
}: TeamPoolContext): Handlers<typeof TeamPoolService> {
  return {
    async createPool({ name, team, labels }, context) {
      const by = operatorFor(team, context)
      checkName(name)
      checkLabelForm(labels)
      const made = await pool.transaction(async (client) => {
        const isNew =
          !knownPools.isOfSettings(name) && (await insertPool(client, { name, team, labels, createdBy: by.name }))
        if (isNew) await audit(client, team, context, { type: AuditType.TEAM, event: 'updated', entityId: team })
        return isNew
      })
      if (!made) throw new Failure('already_exists', 'pool_exists', `There is a pool ${name} already`)
      await knownPools.look()
      return (await readPoolRecords(pool, name))[0]!
    },

    async listPools(_, context) {
      principalIn(context, 'operator')
      return { pools: await readPoolRecords(pool) }
    },

    async deletePool({ name }, context) {
      principalIn(context, 'operator')
      const found = await readPool(pool, name)
      if (found === undefined) throw notFound('pool')
      const { team } = found
      if (await isInUse(pool, { name, team }))
        throw new Failure(
          'failed_precondition',
          'pool_in_use',
          `Runs wait or run in the pool ${name}: wait for their end, or kill them`,
        )
      await pool.transaction(async (client) => {
        if ((await removePool(client, name)) === undefined) return
        await audit(client, team, context, { type: AuditType.TEAM, event: 'updated', entityId: team })
      })
      await knownPools.look()
      await sessions.endAll({ pool: name }, 'its pool was deleted', runners)
      return {}
    },

    async createPoolToken({ pool: name, livesMs }, context) {
      const { name: createdBy } = principalIn(context, 'operator')
      const found = await readPool(pool, name)
      if (found === undefined) throw notFound('pool')
      if (livesMs !== undefined && (livesMs < 1000n || livesMs > BigInt(longestLifeMs)))
        throw invalid('/livesMs', 'must be from one second to ten years')
      const id = v7()
      const { text, hash } = newPoolToken()
      const made = await pool.transaction(async (client) => {
        const lives = livesMs === undefined ? undefined : Number(livesMs)
        const token = await insertToken(client, { id, pool: name, hash, createdBy, livesMs: lives }, mostTokens)
        if (token !== undefined)
          await audit(client, found.team, context, { type: AuditType.TOKEN, event: 'created', entityId: id })
        return token
      })
      if (made === undefined)
        throw new Failure(
          'resource_exhausted',
          'too_many_pool_tokens',
          `The pool ${name} has ${mostTokens} tokens that are good, the most that it may have`,
        )
      return { text, token: made }
    },

    async revokePoolToken({ id }, context) {
      principalIn(context, 'operator')
      const revoked = await pool.transaction(async (client) => {
        const of = isUuid(id) ? await revokeToken(client, id) : undefined
        if (of !== undefined)
          await audit(client, of.team, context, { type: AuditType.TOKEN, event: 'revoked', entityId: id })
        return of
      })
      if (revoked === undefined) throw notFound('pool_token')
      await sessions.endAll({ tokenId: id }, withoutToken, runners)
      return {}
    },
  }
}

/** What the gateway asks before it lets a runner of another network in. */
export function poolTokenService(tokens: PoolTokens): Handlers<typeof PoolTokenService> {
  return {
    async checkPoolToken({ text }, context) {
      principalIn(context, 'service')
      const { pool, team } = await tokens.check(text)
      return { pool, team }
    },
  }
}

function audit(client: Queries, team: string, { principal }: CallContext, entry: AuditEntry): Promise<void> {
  return recordAudit(client, { ...principal, team }, entry)
}

function checkName(name: string): void {
  if (!isTeamSlug(name)) throw invalid('/name', 'must be 1 to 63 of a-z, 0-9 and inner hyphens')
}
