import { Bucket, type Series, type Statistics, type Usage } from '@automation/contract/execution/v1/statistics'
import { z } from '@hono/zod-openapi'
import { moment } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'
import { presentOrigin } from '../executions/record.ts'

/** The names of buckets, in the order of their numbers. */
export const BUCKET_NAMES = ['minute', 'hour', 'day'] as const

/** What series of runs are made by. */
export const SERIES_NAMES = ['process', 'status', 'origin'] as const

const count = () => z.int().openapi({ format: 'int64', minimum: 0 })
const duration = () =>
  count().optional().openapi({ description: 'Of the runs that ended in it, within a tenth; absent where none did' })

const point = z
  .object({
    at: moment().openapi({ description: 'The beginning of the bucket' }),
    started: count(),
    finished: count(),
    error: count(),
    killed: count(),
    rejected: count(),
    p50Ms: duration(),
    p95Ms: duration(),
  })
  .openapi('StatisticsPoint')

const seriesRecord = z
  .object({
    key: z.string().openapi({
      description:
        'The id of the process; the status (RUNNING for what started, else how it ended); the origin, `unknown` where it is not known; or `all`',
    }),
    points: z.array(point).openapi({ description: 'One for each bucket' }),
  })
  .openapi('StatisticsSeries')

export const statisticsRecord = z
  .object({ from: moment(), to: moment(), bucket: z.enum(BUCKET_NAMES), series: z.array(seriesRecord) })
  .openapi('Statistics', {
    example: {
      from: '2026-01-31T12:00:00.000Z',
      to: '2026-01-31T13:00:00.000Z',
      bucket: 'hour',
      series: [
        {
          key: samples.id,
          points: [
            { at: samples.at, started: 9, finished: 7, error: 1, killed: 0, rejected: 0, p50Ms: 23, p95Ms: 152 },
          ],
        },
      ],
    },
  })

/** Figures as JSON. */
export function presentStatistics({ from, to, bucket, series }: Statistics, byOrigin: boolean) {
  // All series are of the same buckets.
  const starts = series[0]?.points.map(({ at }) => presentTime(at)) ?? []
  return {
    from: presentTime(from),
    to: presentTime(to),
    bucket: BUCKET_NAMES[bucket - 1] ?? BUCKET_NAMES[Bucket.HOUR - 1]!,
    series: series.map((each) => presentSeries(each, starts, byOrigin)),
  }
}

function presentSeries({ key, points }: Series, starts: string[], byOrigin: boolean): z.input<typeof seriesRecord> {
  return {
    key: byOrigin ? (presentOrigin(Number(key)) ?? 'unknown') : key,
    points: points.map(({ started, finished, error, killed, rejected, p50Ms, p95Ms }, nth) => ({
      at: starts[nth]!,
      started: Number(started),
      finished: Number(finished),
      error: Number(error),
      killed: Number(killed),
      rejected: Number(rejected),
      p50Ms: p50Ms === undefined ? undefined : Number(p50Ms),
      p95Ms: p95Ms === undefined ? undefined : Number(p95Ms),
    })),
  }
}

const measured = (what: string) =>
  z.number().openapi({ minimum: 0, description: `${what}; 0 where runners have measured none` })

const usageItem = z
  .object({
    key: z.string().openapi({ description: 'The id of the process, or the day in UTC' }),
    runs: count().openapi({ description: 'That have started' }),
    runSeconds: z.number().openapi({ minimum: 0, description: 'Of those that have ended, together' }),
    cpuSeconds: measured('Time on processors of all processes of the runs, user and system'),
    memoryMbSeconds: measured('For each run, the most MiB that it has held by the seconds that it ran'),
    logBytes: count(),
    storedBytes: count().optional().openapi({ description: 'What storage holds now; at the present day' }),
  })
  .openapi('UsageItem')

export const usageRecord = z.object({ from: moment(), to: moment(), items: z.array(usageItem) }).openapi('Usage', {
  example: {
    from: '2026-01-31T00:00:00.000Z',
    to: '2026-02-01T00:00:00.000Z',
    items: [
      {
        key: '2026-01-31',
        runs: 1200,
        runSeconds: 340.25,
        cpuSeconds: 95.5,
        memoryMbSeconds: 21_700,
        logBytes: 51_200,
        storedBytes: 1_048_576,
      },
    ],
  },
})

/** What was used as JSON; `stored` is what storage holds now, for the item of `today`. */
export function presentUsage({ from, to, items }: Usage, today: string, stored: bigint | undefined) {
  return {
    from: presentTime(from),
    to: presentTime(to),
    items: items.map(({ key, runs, runMs, logBytes, cpuMs, memoryMbMs }) => ({
      key,
      runs: Number(runs),
      runSeconds: Number(runMs) / 1000,
      cpuSeconds: Number(cpuMs) / 1000,
      memoryMbSeconds: Number(memoryMbMs) / 1000,
      logBytes: Number(logBytes),
      storedBytes: key === today && stored !== undefined ? Number(stored) : undefined,
    })),
  }
}
