import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { Bucket, Grouping, StatisticsService } from '@automation/contract/execution/v1/statistics'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { invalid } from '@automation/errors'
import { operatorContext } from './operator-context.ts'
import type { Answer } from './answer.ts'
import type { Target } from './target.ts'

const head = [
  'team',
  'runs',
  'finished',
  'error',
  'killed',
  'rejected',
  'runSeconds',
  'cpuSeconds',
  'memoryMbSeconds',
  'logBytes',
  'storedBytes',
] as const

type Row = Record<Exclude<(typeof head)[number], 'team'>, number> & { team: string }

export interface ReportOptions {
  /** Such as 2026-11, in UTC. */
  month: string
  format: string
}

/** What each team has used in a month; stored bytes are those of now. Failures: invalid `/month`, `/format`. */
export async function usageReport(target: Target, { month, format }: ReportOptions): Promise<Answer> {
  const { fromMs, toMs } = spanOf(month)
  if (format !== 'table' && format !== 'csv') throw invalid('/format', 'must be table or csv')
  const { teams } = await target.client(TeamService).listTeams({}, operatorContext())
  const rows: Row[] = []
  for (const { slug } of teams) rows.push(await usageOf(target, slug, fromMs, toMs))
  const cells = rows.map((row) => head.map((name) => String(row[name])))
  if (format === 'csv') return { json: rows, text: [head, ...cells].map((line) => line.join(',')).join('\n') }
  return { json: rows, table: { head: head.map((name) => name.toUpperCase()), rows: cells } }
}

async function usageOf(target: Target, team: string, fromMs: number, toMs: number): Promise<Row> {
  const span = { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) }
  const figures = target.client(StatisticsService)
  const { items } = await figures.getUsage({ ...span, by: Grouping.DAY }, operatorContext(team))
  const { series } = await figures.getStatistics({ ...span, bucket: Bucket.DAY }, operatorContext(team))
  const { limits } = await target.client(StorageService).getLimits({}, operatorContext(team))
  const points = series.flatMap((one) => one.points)
  const total = <T>(of: T[], value: (one: T) => bigint) => Number(of.reduce((sum, one) => sum + value(one), 0n))
  return {
    team,
    runs: total(items, ({ runs }) => runs),
    finished: total(points, ({ finished }) => finished),
    error: total(points, ({ error }) => error),
    killed: total(points, ({ killed }) => killed),
    rejected: total(points, ({ rejected }) => rejected),
    runSeconds: total(items, ({ runMs }) => runMs) / 1000,
    cpuSeconds: total(items, ({ cpuMs }) => cpuMs) / 1000,
    memoryMbSeconds: total(items, ({ memoryMbMs }) => memoryMbMs) / 1000,
    logBytes: total(items, ({ logBytes }) => logBytes),
    storedBytes: Number(limits.find(({ name }) => name === 'stored')?.inUse ?? 0n),
  }
}

/** The month in ms of Unix time, its end exclusive. */
function spanOf(month: string): { fromMs: number; toMs: number } {
  const found = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month)
  if (found === null) throw invalid('/month', 'must be a month such as 2026-11')
  const [year, index] = [Number(found[1]), Number(found[2]) - 1]
  return { fromMs: Date.UTC(year, index), toMs: Date.UTC(year, index + 1) }
}
