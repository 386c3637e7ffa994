import type { OriginSchema } from '@automation/contract/common/v1/origin'
import type { Logger } from '@automation/service'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { moduleDigest, processDigest } from '../processes/source-digest.ts'
import type { Rows, Store } from './store.ts'

// What is said of the source of a row (its digest, where it comes from) is bound to the edit that it was written with. A
// replica of a release before writes rows and says nothing: the digest is made anew then, and there is no origin.

/** A process or module with what is said of one of its edits. */
interface DescribedRow {
  id: string
  revision: number
  /** The edit that the digest and the origin are of. */
  describedRevision: number | null
  sourceDigest: string | null
  /** JSON text. */
  origin: string | null
}

type DescribedTable = 'processes' | 'modules'

/** What records show of their edits. `digest` is of rows that say nothing of the edit that they have. */
export function descriptionOf(row: DescribedRow, digest: () => string | undefined) {
  const isDescribed = row.describedRevision === row.revision
  const origin = isDescribed && row.origin !== null ? row.origin : undefined
  return {
    revision: row.revision,
    sourceDigest: (isDescribed ? row.sourceDigest : undefined) ?? digest() ?? '',
    origin: origin === undefined ? undefined : (JSON.parse(origin) as MessageInitShape<typeof OriginSchema>),
  }
}

/** The digests of those of a page that say none, by id: with two statements for each 8 MiB of them. */
export async function missingDigests(
  rows: Rows,
  table: DescribedTable,
  page: DescribedRow[],
): Promise<Map<string, string>> {
  const digests = new Map<string, string>()
  for await (const { id, digest } of digestsOf(rows, table, undescribed(page)))
    if (digest !== undefined) digests.set(id, digest)
  return digests
}

function undescribed(page: DescribedRow[]): string[] {
  return page.filter((row) => row.describedRevision !== row.revision || row.sourceDigest === null).map(({ id }) => id)
}

interface Digested {
  id: string
  revision: number
  /** Undefined where none can be made. */
  digest: string | undefined
}

async function* digestsOf(rows: Rows, table: DescribedTable, ids: string[]): AsyncIterable<Digested> {
  for (let left = ids; left.length > 0;) {
    const batch = await fitting(rows, table, left)
    const where = { id: { in: batch } }
    if (table === 'processes')
      for (const row of await rows.process.findMany({ where, omit: { imports: true } }))
        yield { id: row.id, revision: row.revision, digest: digestIfAny(() => processDigest(row)) }
    else
      for (const row of await rows.module.findMany({ where, omit: { imports: true } }))
        yield { id: row.id, revision: row.revision, digest: digestIfAny(() => moduleDigest(row)) }
    left = left.slice(batch.length)
  }
}

/** Undefined for a row that holds no JSON where there should be some, which keeps nobody from reading the others. */
export function digestIfAny(make: () => string): string | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

// Held in memory at a time.
const batchBytes = 8 * 1024 * 1024

const sizes: Record<DescribedTable, string> = {
  processes: `octet_length(source_code) + coalesce(octet_length(readme), 0) + coalesce(octet_length(parameters_schema), 0)`,
  modules: 'octet_length(source_code)',
}

/** As many of these as one may read at a time, in their order; at least one. */
async function fitting(rows: Rows, table: DescribedTable, ids: string[]): Promise<string[]> {
  const found = await rows.$queryRawUnsafe<{ id: string; size: number }[]>(
    `SELECT id::text, ${sizes[table]} AS size FROM ${table} WHERE id = ANY ($1::uuid[])`,
    ids,
  )
  const sizeOf = new Map(found.map(({ id, size }) => [id, size]))
  let bytes = 0
  const end = ids.findIndex((id, at) => (bytes += sizeOf.get(id) ?? 0) > batchBytes && at > 0)
  return end === -1 ? ids : ids.slice(0, end)
}

const batchRows = 100

/** Writes the digests of rows that say none, such as those that a release before has written; goes past what has none. */
export async function describeRecords(store: Store, logger: Logger): Promise<void> {
  for (const table of ['processes', 'modules'] as const) {
    let after = '00000000-0000-0000-0000-000000000000'
    for (let more = true; more;) {
      const found = await store.statement<{ id: string }>({
        text: `SELECT id::text FROM ${table} WHERE described_revision IS DISTINCT FROM revision AND id > $1
               ORDER BY id LIMIT ${batchRows}`,
        values: [after],
      })
      const ids = found.map(({ id }) => id)
      const digests = await store.read((rows) => Array.fromAsync(digestsOf(rows, table, ids)))
      for (const { id, digest } of digests)
        if (digest === undefined) logger.warn({ table, id }, 'a record has no digest, as it holds what is no JSON')
      await keep(store, table, digests)
      after = ids.at(-1) ?? after
      more = found.length === batchRows
    }
  }
}

/** A row that was edited meanwhile keeps what that edit says. */
async function keep(store: Store, table: DescribedTable, made: Digested[]): Promise<void> {
  const digests = made.filter(({ digest }) => digest !== undefined)
  if (digests.length === 0) return
  await store.statement({
    text: `UPDATE ${table} AS kept SET source_digest = made.digest, described_revision = made.revision, origin = NULL
           FROM unnest($1::uuid[], $2::integer[], $3::text[]) AS made (id, revision, digest)
           WHERE kept.id = made.id AND kept.revision = made.revision AND kept.described_revision IS DISTINCT FROM made.revision`,
    values: [digests.map(({ id }) => id), digests.map(({ revision }) => revision), digests.map(({ digest }) => digest)],
  })
}
