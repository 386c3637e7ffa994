import { countedUpTo, literally, pageInfo, type Window } from '@automation/database'
import { invalid } from '@automation/errors'
import type { Prisma } from '../../prisma/generated/client.ts'
import { largeTexts, listedTexts } from './listed-texts.ts'
import { processMessage } from './process-message.ts'
import type { Store } from './store.ts'
import { requireTeam } from './teams.ts'

export interface ProcessFilter {
  /** Part of the name or the description; empty for all. */
  keywords: string
  /** Any of these; empty for all. */
  tags: string[]
}

/** A page of the team's processes, newest first, without what is too large. */
export function listProcesses(store: Store, team: string, filter: ProcessFilter, window: Window) {
  const where = { team, ...matching(filter) }
  return store.readFor(team, async (rows) => {
    const found = await rows.process.findMany({
      where,
      orderBy: { id: 'desc' },
      ...window,
      omit: { ...largeTexts.processes, webhookPasswordHash: true },
    })
    const total = await rows.process.count({ where, take: countedUpTo })
    if (total === 0) await requireTeam(rows, team)
    const textsOf = await listedTexts(rows, 'processes', found)
    const processes = found.map((row) => processMessage({ ...row, ...textsOf(row.id) }))
    return { processes, page: pageInfo(window, total, found.length) }
  })
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
