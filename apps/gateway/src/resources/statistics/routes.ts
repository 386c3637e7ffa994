import { Bucket, Grouping, StatisticsService } from '@automation/contract/execution/v1/statistics'
import { StorageService } from '@automation/contract/storage/v1/storage'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { processIdFilter } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { time } from '../../rest/time.ts'
import { whereThere } from '../limits/routes.ts'
import { BUCKET_NAMES, presentStatistics, presentUsage, SERIES_NAMES, statisticsRecord, usageRecord } from './record.ts'

/** One of some words; absent and empty mean the same. */
const word = <const W extends readonly [string, ...string[]]>(words: W) =>
  z
    .string()
    .optional()
    .transform((value, check) => {
      if (value === undefined || value === '') return undefined
      if (words.includes(value)) return value as W[number]
      check.addIssue({ code: 'custom', message: `must be one of ${words.join(', ')}` })
      return z.NEVER
    })
    .openapi({ type: 'string', enum: [...words] })

const buckets = { minute: Bucket.MINUTE, hour: Bucket.HOUR, day: Bucket.DAY }
const groupings = {
  process: Grouping.PROCESS,
  status: Grouping.STATUS,
  origin: Grouping.ORIGIN,
  day: Grouping.DAY,
}

/** Figures of runs: how many, how long, what they used. */
export function statisticsRoutes(api: RestApi, neighbours: Neighbours): void {
  const statistics = neighbours.client(StatisticsService)
  const storage = neighbours.client(StorageService)

  api.add(
    {
      method: 'get',
      path: '/executions/statistics',
      tag: 'Executions',
      scope: 'read',
      summary: 'Read how many runs started and ended, trials aside, and how long they took; at most 10,000 points',
      query: z.object({
        from: time(),
        to: time(),
        bucket: word(BUCKET_NAMES).openapi({
          default: 'hour',
          description: 'Days are those of UTC; minutes are kept for seven days',
        }),
        by: word(SERIES_NAMES).openapi({ description: 'Absent: one series of all' }),
        processId: processIdFilter,
      }),
      success: { status: 200, description: 'The figures', schema: statisticsRecord },
      refusals: { 400: ['invalid_input', 'too_many_points'] },
    },
    async ({ query, context }) => {
      const { from, to, bucket, by, processId } = query
      const request = {
        from,
        to,
        bucket: bucket && buckets[bucket],
        by: by && groupings[by],
        processId,
      }
      return { body: presentStatistics(await statistics.getStatistics(request, context), by === 'origin') }
    },
  )

  api.add(
    {
      method: 'get',
      path: '/usage',
      tag: 'Team',
      scope: 'read',
      summary: 'Read what runs used, trials among them, by process or day; at most 10,000 items',
      query: z.object({
        from: time(),
        to: time(),
        by: word(['process', 'day']).openapi({ default: 'process' }),
      }),
      success: { status: 200, description: 'By key', schema: usageRecord },
      refusals: { 400: ['invalid_input', 'too_many_points'] },
    },
    async ({ query, context }) => {
      const { from, to, by = 'process' } = query
      const today = new Date().toISOString().slice(0, 10)
      const used = await statistics.getUsage({ from, to, by: groupings[by] }, context)
      const shows = by === 'day' && used.items.some(({ key }) => key === today)
      const { limits } = shows ? await whereThere(storage.getLimits({}, context)) : { limits: [] }
      const stored = limits.find(({ name }) => name === 'stored')?.inUse
      return { body: presentUsage(used, today, stored) }
    },
  )
}
