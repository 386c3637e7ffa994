import { isUuid } from '@automation/contract/forms'
import { isTag } from '../fields/names.ts'
import type { Store } from './store.ts'

/** A process, and one of its versions by id, tag or alias; empty for the current source. */
export interface NamedVersion {
  processId: string
  tag: string
}

/** What it stands for now; null where there is nothing of that name. */
interface FoundVersion {
  slug: string | null
  versionId: string | null
}

/** What each of these names in a team, in their order: all in one statement, of one snapshot. */
export function readReferences(store: Store, team: string, named: readonly NamedVersion[]): Promise<FoundVersion[]> {
  return store.statementFor<FoundVersion>(team, {
    name: 'read_references',
    text: `SELECT process.slug, coalesce(
             (SELECT id FROM versions WHERE process_id = process.id AND id = asked.version_id),
             (SELECT id FROM versions WHERE process_id = process.id AND tag = asked.name),
             (SELECT version_id FROM aliases WHERE process_id = process.id AND name = asked.name)) AS "versionId"
           FROM unnest($2::uuid[], $3::uuid[], $4::text[]) WITH ORDINALITY AS asked(process_id, version_id, name, place)
           LEFT JOIN processes process ON process.id = asked.process_id AND process.team = $1
           ORDER BY asked.place`,
    values: [
      team,
      named.map(({ processId }) => processId),
      named.map(({ tag }) => (isUuid(tag) ? tag : null)),
      named.map(({ tag }) => (isTag(tag) ? tag : null)),
    ],
  })
}
