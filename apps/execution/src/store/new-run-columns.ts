import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import type { Origin } from '@automation/contract/execution/v1/execution'
import { storedText, textOf } from './stored-text.ts'

/** The call of a webhook that a run is for, as lists of deliveries tell it. */
export interface Delivery {
  method: string
  bytes: number
  /** Its caller does not wait for the end. */
  atOnce: boolean
}

/** A run that is to be accepted: what its row will hold. */
export interface NewRun {
  id: string
  team: string
  spec: RunSpec
  pool: string
  /** JSON text of an object. */
  parameters: Uint8Array
  /** JSON text of the webhook's request. */
  request?: Uint8Array
  comment?: string
  timeoutMs: number
  freshProcess: boolean
  callbackUrl?: string
  initiatedBy?: string
  createdBy: string
  ip?: string
  depth: number
  parentId?: string
  /** The execution that it repeats. */
  rerunOf?: string
  origin: Origin
  /** A run of what is not saved. */
  trial: boolean
  /** What its start named; empty for the current source. */
  tag: string
  /** Of a call of a webhook. */
  delivery?: Delivery
  /** Of the webhook's request, where it is repeated: when that came. */
  requestReceivedAt?: Date
  /** By which sources are told apart. */
  sourceMark: bigint
  /** Of the schedule whose run it is. */
  scheduleId?: string
  /** Of who started it. */
  traceparent?: string
}

/** A run on its way into the database, with the runner's session that has a slot for it, or why there is none. */
export interface Arrival {
  run: NewRun
  sessionId?: string
  waitsFor?: string
  /** Monotonic ms at which its caller is to have an answer. */
  answerAtMs: number
}

type Column = [name: string, type: string, value: (arrival: Arrival) => unknown]

/** Columns of executions that come from the arrival, in the order of the statements' parameters. */
const columns: Column[] = [
  ['id', 'uuid', ({ run }) => run.id],
  ['team', 'text', ({ run }) => run.team],
  ['process_id', 'uuid', ({ run }) => run.spec.processId],
  ['process_name', 'text', ({ run }) => storedText(run.spec.processName)],
  ['process_slug', 'text', ({ run }) => run.spec.processSlug],
  ['version_id', 'uuid', ({ run }) => run.spec.versionId],
  ['schedule_id', 'uuid', ({ run }) => run.scheduleId],
  ['language', 'smallint', ({ run }) => run.spec.language],
  ['pool', 'text', ({ run }) => run.pool],
  ['depth', 'smallint', ({ run }) => run.depth],
  ['parent_id', 'uuid', ({ run }) => run.parentId],
  ['parameters', 'text', ({ run }) => textOf(run.parameters)],
  ['request', 'text', ({ run }) => (run.request === undefined ? undefined : textOf(run.request))],
  ['comment', 'text', ({ run }) => optionalText(run.comment)],
  ['timeout_ms', 'integer', ({ run }) => run.timeoutMs],
  ['fresh_process', 'boolean', ({ run }) => run.freshProcess],
  ['callback_url', 'text', ({ run }) => optionalText(run.callbackUrl)],
  ['initiated_by', 'text', ({ run }) => optionalText(run.initiatedBy)],
  ['created_by', 'text', ({ run }) => storedText(run.createdBy)],
  ['ip', 'text', ({ run }) => run.ip],
  ['rerun_of', 'uuid', ({ run }) => run.rerunOf],
  ['held', 'boolean', ({ run }) => run.spec.awaitedDependencies !== ''],
  ['traceparent', 'text', ({ run }) => run.traceparent],
  ['origin', 'smallint', ({ run }) => run.origin],
  ['trial', 'boolean', ({ run }) => run.trial],
  ['tag', 'text', ({ run }) => optionalText(run.tag)],
  ['request_received_at', 'timestamptz', ({ run }) => run.requestReceivedAt],
  ['source_mark', 'bigint', ({ run }) => run.sourceMark],
  ['delivery_method', 'text', ({ run }) => run.delivery?.method],
  ['delivery_bytes', 'bigint', ({ run }) => run.delivery?.bytes],
  ['answered_at_once', 'boolean', ({ run }) => run.delivery?.atOnce],
]
const extra: Column[] = [
  ['session_id', 'uuid', ({ sessionId }) => sessionId],
  ['waits_for', 'text', ({ waitsFor }) => waitsFor],
]
const all = [...columns, ...extra]

/** Number of parameters that the arrivals take; further ones count from here. */
export const arrivalParameters = all.length

export const rowColumns = columns.map(([name]) => name).join(', ')

/** How arrivals get into a statement: as rows `i` with their order `n`, made from parameters. */
export interface ArrivalSource {
  rows: string
  /** The values of `rowColumns`, for a select from `rows`. */
  columns: string
  /** The same with id, team and process_id only. */
  keys: string
  /** The number of arrivals, the team of the first, and whether a process is among theirs. */
  count: string
  team: string
  isProcess(column: string): string
  values(arrivals: Arrival[]): unknown[]
}

/** May be of any size: not for statements to carry from step to step. */
const isLarge = (name: string) => name === 'parameters' || name === 'request'

const single = all.map(([name, type], index) => ({ name, value: `$${index + 1}::${type}` }))

/** One arrival, each column a parameter: arrays cost a tenth of a millisecond more. */
export const oneArrival: ArrivalSource = {
  rows: `(SELECT ${single
    .filter(({ name }) => !isLarge(name))
    .map(({ name, value }) => `${value} AS ${name}`)
    .join(', ')}, 1 AS n) AS i`,
  columns: single
    .slice(0, columns.length)
    .map(({ name, value }) => (isLarge(name) ? value : name))
    .join(', '),
  keys: '(SELECT $1::uuid AS id, $2::text AS team, $3::uuid AS process_id) AS i',
  count: '1',
  team: '$2::text',
  isProcess: (column) => `${column} = $3::uuid`,
  values: ([arrival]) => all.map(([, , value]) => value(arrival!) ?? null),
}

/** Any number of arrivals, each column an array. */
export const manyArrivals: ArrivalSource = {
  rows: `unnest(${all.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ')})
    WITH ORDINALITY AS i(${all.map(([name]) => name).join(', ')}, n)`,
  columns: rowColumns,
  keys: 'unnest($1::uuid[], $2::text[], $3::uuid[]) AS i(id, team, process_id)',
  count: 'cardinality($1::uuid[])',
  team: '($2::text[])[1]',
  isProcess: (column) => `${column} = ANY ($3::uuid[])`,
  values: (arrivals) => all.map(([, , value]) => arrivals.map((arrival) => value(arrival) ?? null)),
}

/** About how many bytes an arrival brings into a statement. */
export function arrivalWeight({ run }: Pick<Arrival, 'run'>): number {
  return run.parameters.length + (run.request?.length ?? 0) + 500
}

function optionalText(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : storedText(text)
}
