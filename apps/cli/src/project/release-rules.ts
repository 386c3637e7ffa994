import { isSame } from './canonical-json.ts'
import type { Publisher } from './publisher.ts'

/** What a version is of: what runs of it see. */
export interface Content {
  sourceCode: string
  parametersSchema?: Record<string, unknown> | null
  readme?: string | null
}

/** A published version. */
export interface Version {
  id: string
  tag: string
  createdAt: string
}

/** A process or a module with what it has published. */
export interface Owner {
  /** As its versions and aliases are named in plans: `process/greeting`. */
  key: string
  publisher: Publisher
  content: Content
  /** Newest first. */
  versions: readonly Version[]
  /** The alias that is asked for, where it has one. */
  alias?: { id: string; versionId: string }
}

/** Whether a version is what would be published now. */
export function hasContent(version: Content, content: Content): boolean {
  return (
    version.sourceCode === content.sourceCode &&
    isSame(version.parametersSchema ?? null, content.parametersSchema ?? null) &&
    (version.readme || null) === (content.readme || null)
  )
}

/** What going back to a release means for one of its owners. */
export interface Move {
  owner: Owner
  /** Undefined: it has no version of that time, and its alias stays. */
  to: Version | undefined
}

/**
 * Where an alias of each owner leads after going back to a release: to the version of its tag, else to the newest that was
 * there when the release was made. Undefined where no owner has a version of that tag.
 */
export function movesTo(tag: string, owners: readonly Owner[]): Move[] | undefined {
  const times = owners.flatMap(({ versions }) =>
    versions.filter((each) => each.tag === tag).map((each) => each.createdAt),
  )
  const at = times.toSorted().at(-1)
  if (at === undefined) return undefined
  const withAlias = owners.filter(({ alias }) => alias !== undefined)
  return withAlias.flatMap((owner) => {
    const to = owner.versions.find((each) => each.tag === tag) ?? owner.versions.find((each) => each.createdAt <= at)
    return to?.id === owner.alias!.versionId ? [] : [{ owner, to }]
  })
}

/** The same for the release before the one that the alias leads to: owners that this one has changed go one version back. */
export function movesBack(owners: readonly Owner[]): Move[] {
  const current = owners
    .flatMap(({ versions, alias }) => versions.find(({ id }) => id === alias?.versionId) ?? [])
    .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))[0]
  if (current === undefined) return []
  return owners.flatMap((owner) => {
    const at = owner.versions.findIndex(({ id }) => id === owner.alias?.versionId)
    return at !== -1 && owner.versions[at]!.tag === current.tag ? [{ owner, to: owner.versions[at + 1] }] : []
  })
}
