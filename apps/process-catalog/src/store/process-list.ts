import { literally } from '@automation/database'
import { countedUpTo, pageInfo, type Window } from '@automation/rpc'
import { invalid } from '@automation/errors'
import { Prisma } from '../../prisma/generated/client.ts'
import { processMessage } from './process-message.ts'
import type { Rows, Store } from './store.ts'
import { requireTeam } from './teams.ts'

/** Sources above this size are left out of lists. */
const listedSourceBytes = 64 * 1024

export interface ProcessFilter {
  /** Part of the name or the description; empty for all. */
  keywords: string
  /** Any of these; empty for all. */
  tags: string[]
}

/** A page of the team's processes, newest first, without sources above 64 KiB. */
export function listProcesses(store: Store, team: string, filter: ProcessFilter, window: Window) {
  const where = { team, ...matching(filter) }
  return store.read(async (rows) => {
    const found = await rows.process.findMany({
      where,
      orderBy: { id: 'desc' },
      ...window,
      omit: { sourceCode: true, webhookPasswordHash: true },
    })
    const total = await rows.process.count({ where, take: countedUpTo })
    if (total === 0) await requireTeam(rows, team)
    const sources = await smallSources(rows, 'processes', found)
    const processes = found.map((row) => processMessage({ ...row, sourceCode: sources.get(row.id) }))
    return { processes, page: pageInfo(window, total, found.length) }
  })
}

/** The sources of these rows that are not above 64 KiB, by id; larger ones are not even read. */
export async function smallSources(
  rows: Rows,
  table: 'processes' | 'versions' | 'modules',
  of: { id: string }[],
): Promise<Map<string, string>> {
  if (of.length === 0) return new Map()
  const sources = await rows.$queryRaw<{ id: string; source: string }[]>`
    SELECT id::text, source_code AS source FROM ${Prisma.raw(table)}
    WHERE id = ANY(${of.map(({ id }) => id)}::uuid[]) AND octet_length(source_code) <= ${listedSourceBytes}`
  return new Map(sources.map(({ id, source }) => [id, source]))
}

function matching({ keywords, tags }: ProcessFilter): Prisma.ProcessWhereInput {
  if (keywords.includes('\0')) throw invalid('/keywords', 'must not contain NUL characters')
  if (tags.some((tag) => tag.includes('\0'))) throw invalid('/tags', 'must not contain NUL characters')
  const part = { contains: literally(keywords), mode: 'insensitive' } as const
  return {
    ...(keywords === '' ? {} : { OR: [{ name: part }, { description: part }] }),
    ...(tags.length === 0 ? {} : { tags: { hasSome: tags } }),
  }
}
