import type { Process } from '@automation/contract/catalog/v1/process'
import type { LastExecution, ProcessSummary } from '@automation/contract/execution/v1/statistics'
import type { NextFiring } from '@automation/contract/schedule/v1/schedule'
import { z } from '@hono/zod-openapi'
import { moment, uuid } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'
import { presentStatus, STATUS_NAMES } from '../executions/record.ts'
import { exampleProcess } from './record.ts'

const count = () => z.int().openapi({ format: 'int64', minimum: 0 })

const lastExecution = z
  .object({ id: uuid(), status: z.enum(STATUS_NAMES), createdAt: moment() })
  .openapi({ title: 'ProcessLastExecution' })

const lastDay = z
  .object({
    runs: count().openapi({ description: 'That have ended' }),
    failed: count().openapi({ description: 'Those of them that have ended as ERROR, KILLED or REJECTED' }),
    p95Ms: count().optional().openapi({
      description:
        'How long nineteen of twenty of those that have ended took at most, within a tenth; absent where none has',
    }),
  })
  .openapi({ title: 'ProcessLastDay' })

export const processSummaryRecord = z
  .object({
    id: uuid(),
    name: z.string(),
    slug: z.string(),
    lastExecution: lastExecution
      .optional()
      .openapi({ description: 'The newest that is no trial; absent too where the newest hundred are trials' }),
    last24h: lastDay.openapi({
      description: 'Of the present hour of UTC and the 23 before it, as in `/executions/statistics`; without trials',
    }),
    nextFiringAt: moment().optional().openapi({
      description: 'When the next of its schedules is due; absent where nothing comes',
    }),
  })
  .openapi('ProcessSummary', {
    example: {
      id: samples.id,
      name: exampleProcess.name,
      slug: exampleProcess.slug,
      lastExecution: { id: samples.executionId, status: 'FINISHED', createdAt: samples.at },
      last24h: { runs: 96, failed: 2, p95Ms: 152 },
      nextFiringAt: samples.later,
    },
  })

/** What is known of a process beside its own record. */
interface ProcessNews {
  /** Undefined where it has had no run lately. */
  summary: ProcessSummary | undefined
  /** Undefined where nothing comes. */
  next: NextFiring | undefined
}

/** A process with how it fares, as JSON. */
export function presentProcessSummary(
  { id, name, slug }: Process,
  { summary, next }: ProcessNews,
): z.input<typeof processSummaryRecord> {
  return {
    id,
    name,
    slug,
    lastExecution: summary?.lastExecution && presentLastExecution(summary.lastExecution),
    last24h: {
      runs: Number(summary?.runs ?? 0n),
      failed: Number(summary?.failed ?? 0n),
      p95Ms: summary?.p95Ms === undefined ? undefined : Number(summary.p95Ms),
    },
    nextFiringAt: next && presentTime(next.at),
  }
}

function presentLastExecution({ id, status, createdAt }: LastExecution): z.input<typeof lastExecution> {
  return { id, status: presentStatus(status), createdAt: presentTime(createdAt) }
}
