import type { RunnerService } from '@automation/contract/runner/v1/runner'
import { principalIn, type Handlers } from '@automation/rpc'
import type { PoolTokens } from '../dispatch/pool-tokens.ts'
import type { Sessions } from '../dispatch/sessions.ts'
import type { RunnerStreams } from '../dispatch/runner-streams.ts'

/** Gives runners their work: each has a stream, and a session that outlives it. */
export function runnerService(
  streams: RunnerStreams,
  sessions: Sessions,
  tokens: PoolTokens,
): Handlers<typeof RunnerService> {
  return {
    work: (requests, context) => {
      const { pod } = principalIn(context, 'runner')
      const credentials = {
        pod,
        grantOf: () => tokens.grantOf(context),
        inTurn: <T>(work: () => Promise<T>) => tokens.inTurn(context, work),
        outInTurn: <T>(work: () => Promise<T>) => tokens.outInTurn(context, work),
      }
      return streams.serve(requests, credentials, context.signal)
    },
    renewSession: ({ sessionId, executionIds, idleMs, team, replicas }, context) => {
      const { pod } = principalIn(context, 'runner')
      return tokens.inTurn(context, async () => {
        const tokenId = (await tokens.grantOf(context))?.tokenId
        const renewal = {
          id: sessionId,
          idleMs: Number(idleMs),
          team: team || undefined,
          tokenId,
          podId: pod?.id,
          replicas: shownReplicas(replicas),
        }
        const { ended, drain } = await sessions.renew(renewal, executionIds)
        return { endedExecutionIds: ended, drain }
      })
    },
  }
}

/** Addresses are shown to operators: more or longer ones than there can be are left out. */
function shownReplicas(replicas: string[]): string[] {
  return replicas.slice(0, 100).filter((address) => address.length <= 255)
}
