import { isUuid } from '@automation/contract/forms'
import { Status } from '@automation/contract/execution/v1/execution'
import {
  Bucket,
  Grouping,
  type GetStatisticsRequest,
  type GetUsageRequest,
  type StatisticsPointSchema,
  type StatisticsSchema,
  type UsageSchema,
} from '@automation/contract/execution/v1/statistics'
import { invalid, type Failure } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs, timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt'
import type { RunCounter } from '../react/run-counter.ts'
import type { Connections } from '../store/connections.ts'
import { readDaysFilledUntil } from '../store/counted-days.ts'
import { readHoursFilledUntil, readMinutesFilledUntil } from '../store/hourly-sums.ts'
import { grains, minutesKeptMs } from '../store/run-counts.ts'
import { readStatistics, readUsage, type CountSpan, type StatisticsRow } from '../store/statistics.ts'

/** The most points of all series together, and the most items of a usage. */
const mostPoints = 10_000

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const bucketsMs: Record<Bucket, number> = {
  [Bucket.UNSPECIFIED]: hourMs,
  [Bucket.MINUTE]: 60_000,
  [Bucket.HOUR]: hourMs,
  [Bucket.DAY]: dayMs,
}

type Point = MessageInitShape<typeof StatisticsPointSchema>

/** Which figures are asked for. */
interface Asked {
  bucket: Bucket
  /** What is told apart, and so what sums there may be of: those of each process have no origins and no trials. */
  of: 'all processes' | 'each process' | 'each row'
  fromMs: number
  toMs: number
}

/** Figures of teams, from the counts of their runs. */
export class Statistics {
  readonly #connections: Connections
  readonly #counter: RunCounter

  constructor(connections: Connections, counter: RunCounter) {
    this.#connections = connections
    this.#counter = counter
  }

  /** Failures: invalid_input, too_many_points; unavailable while counting is too far behind. */
  async of(team: string, request: GetStatisticsRequest): Promise<MessageInitShape<typeof StatisticsSchema>> {
    const { by, processId } = request
    const bucket = request.bucket || Bucket.HOUR
    const bucketMs = bucketsMs[bucket]
    const { fromMs, toMs } = spanOf(request, bucketMs, 24 * bucketMs)
    const buckets = (toMs - fromMs) / bucketMs
    if (buckets > mostPoints) throw tooMany()
    if (bucket === Bucket.MINUTE && fromMs < Date.now() - minutesKeptMs)
      throw invalid('/from', 'must be within the last 7 days for minutes: take hours or days')
    if (processId !== '' && !isUuid(processId)) return { ...timesOf(fromMs, toMs), bucket, series: [] }
    await this.#counter.catchUp()
    const isOfAll = processId === '' && by !== Grouping.PROCESS
    const of = isOfAll ? 'all processes' : by === Grouping.ORIGIN ? 'each row' : 'each process'
    const spans = await this.#spansOf({ bucket, of, fromMs, toMs })
    const filter = { team, spans, processId: processId || undefined }
    const rows = await readStatistics(this.#connections.forTeam(team), filter, { by, bucketMs, most: mostPoints })
    const byKey = Map.groupBy(rows ?? refuse(), ({ key }) => key)
    if (byKey.size * buckets > mostPoints) throw tooMany()
    const starts = Array.from({ length: buckets }, (_, nth) => timestampFromMs(fromMs + nth * bucketMs))
    const series = [...byKey].map(([key, found]) => ({
      key: keyOf(by, key),
      points: pointsOf(starts, bucketMs, found),
    }))
    return { ...timesOf(fromMs, toMs), bucket, series }
  }

  /** Failures as those of `of`. */
  async usage(team: string, request: GetUsageRequest): Promise<MessageInitShape<typeof UsageSchema>> {
    const { fromMs, toMs } = spanOf(request, hourMs, 30 * dayMs)
    await this.#counter.catchUp()
    const by = request.by || Grouping.PROCESS
    const filter = { team, spans: await this.#spansOf({ bucket: Bucket.DAY, of: 'each row', fromMs, toMs }) }
    const rows = await readUsage(this.#connections.forTeam(team), filter, by, mostPoints)
    const items = (rows ?? refuse()).map(({ key, runs, runMs, logBytes, cpuMs, memoryMbMs }) => ({
      key,
      runs: BigInt(runs),
      runMs: BigInt(runMs),
      logBytes: BigInt(logBytes),
      cpuMs: BigInt(cpuMs),
      memoryMbMs: BigInt(memoryMbMs),
    }))
    return { ...timesOf(fromMs, toMs), items }
  }

  /** The rows that make up a span from which nothing smaller than the bucket is told. */
  async #spansOf({ bucket, of, fromMs, toMs }: Asked): Promise<CountSpan[]> {
    if (bucket === Bucket.MINUTE) {
      const untilMs = of === 'all processes' ? await readMinutesFilledUntil(this.#connections) : 0
      return summedSpans([grains.minuteOfAll, grains.minute], fromMs, toMs, untilMs)
    }
    const hoursMs = of === 'each row' ? 0 : await readHoursFilledUntil(this.#connections)
    const summed = of === 'all processes' ? grains.hourOfAll : grains.hourOfProcess
    const hoursOf = (from: number, to: number) => summedSpans([summed, grains.hour], from, to, hoursMs)
    if (bucket === Bucket.HOUR) return hoursOf(fromMs, toMs)
    return spansOfDays(fromMs, toMs, await readDaysFilledUntil(this.#connections), hoursOf)
  }
}

const earliestMs = Date.parse('0001-01-01T00:00:00Z')
const latestMs = Date.parse('9999-12-31T23:59:59Z')

interface Span {
  from?: Timestamp
  to?: Timestamp
}

function spanOf({ from, to }: Span, bucketMs: number, usualMs: number): { fromMs: number; toMs: number } {
  const toMs = Math.ceil((to === undefined ? Date.now() : timestampMs(to)) / bucketMs) * bucketMs
  const fromMs = from === undefined ? toMs - usualMs : Math.floor(timestampMs(from) / bucketMs) * bucketMs
  if (fromMs < earliestMs) throw invalid('/from', 'must not be before the year 1')
  if (toMs > latestMs) throw invalid('/to', 'must be before the end of the year 9999')
  if (fromMs >= toMs) throw invalid('/from', 'must be before `to`')
  return { fromMs, toMs }
}

/** Whole days that are filled as days, what is before and behind them as hours: few rows make up a long span. */
function spansOfDays(
  fromMs: number,
  toMs: number,
  filledUntilMs: number,
  hoursOf: (fromMs: number, toMs: number) => CountSpan[],
): CountSpan[] {
  const firstDay = Math.ceil(fromMs / dayMs) * dayMs
  const lastDay = Math.min(Math.floor(toMs / dayMs) * dayMs, filledUntilMs)
  if (firstDay >= lastDay) return hoursOf(fromMs, toMs)
  return [
    ...hoursOf(fromMs, firstDay),
    { grain: grains.day, fromMs: firstDay, toMs: lastDay },
    ...hoursOf(lastDay, toMs),
  ]
}

/** Sums where they are filled, and what they are of behind them. */
function summedSpans(
  [summed, counted]: [number, number],
  fromMs: number,
  toMs: number,
  filledUntilMs: number,
): CountSpan[] {
  const until = Math.max(fromMs, Math.min(toMs, filledUntilMs))
  return [
    { grain: summed, fromMs, toMs: until },
    { grain: counted, fromMs: until, toMs },
  ]
}

const timesOf = (fromMs: number, toMs: number) => ({ from: timestampFromMs(fromMs), to: timestampFromMs(toMs) })

function keyOf(by: Grouping, key: string): string {
  return by === Grouping.STATUS ? Status[Number(key)]! : key
}

/** One for each bucket, of rows of one key. */
function pointsOf(starts: Timestamp[], bucketMs: number, rows: StatisticsRow[]): Point[] {
  const points: Point[] = starts.map((at) => ({ at }))
  const fromMs = timestampMs(starts[0]!)
  for (const row of rows) {
    const nth = (row.atMs - fromMs) / bucketMs
    points[nth] = {
      at: starts[nth]!,
      started: countOf(row.started),
      finished: countOf(row.finished),
      error: countOf(row.error),
      killed: countOf(row.killed),
      rejected: countOf(row.rejected),
      p50Ms: row.p50 === null ? undefined : BigInt(row.p50),
      p95Ms: row.p95 === null ? undefined : BigInt(row.p95),
    }
  }
  return points
}

/** Most are 0 where statuses are told apart. */
const countOf = (text: string): bigint => (text === '0' ? 0n : BigInt(text))

function refuse(): never {
  throw tooMany()
}

function tooMany(): Failure {
  const text = `would make more than ${mostPoints} points or items: narrow \`from\` and \`to\`, or take a larger bucket`
  return invalid('/from', text, 'too_many_points')
}
