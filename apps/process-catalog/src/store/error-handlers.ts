import { invalid } from '@automation/errors'
import type { Team } from '../../prisma/generated/client.ts'
import { absentProcess, absentVersionOrAlias } from '../absent.ts'
import { isUuid } from '../identifier.ts'
import type { Rows } from './store.ts'

type Named = Pick<Team, 'slug' | 'errorHandlerSlug' | 'errorHandlerTag'>

/**
 * Fails where a team's error handler is none that can run: invalid `/errorHandlerConfig/processSlug` where only a tag is
 * named, process_not_found, version_not_found.
 */
export async function requireErrorHandler(rows: Rows, team: Named): Promise<void> {
  const { errorHandlerSlug: slug, errorHandlerTag: tag } = team
  if (slug === null && tag === null) return
  if (slug === null) throw invalid('/errorHandlerConfig/processSlug', 'is required')
  const process = await rows.process.findFirst({ where: { team: team.slug, slug }, select: { id: true } })
  if (process === null) throw absentProcess(slug)
  if (tag === null) return
  const ownerId = process.id
  const version = isUuid(tag) ? { ownerId, id: tag } : { ownerId, tag }
  if ((await rows.version.count({ where: version })) > 0) return
  if ((await rows.alias.count({ where: { ownerId, name: tag } })) === 0) throw absentVersionOrAlias(tag)
}
