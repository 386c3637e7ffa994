import { isSame } from './canonical-json.ts'
import type { VersionOwner } from './version-owner.ts'

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
  versionOwner: VersionOwner
  content: Content
  /** Newest first. */
  versions: readonly Version[]
  /** The alias that is asked for, where it has one. */
  alias?: OwnAlias
}

/** An alias of an owner, as far as releases are about it. */
interface OwnAlias {
  id: string
  versionId: string
  /** The versions that it led to before, the last first; absent where there are none, and from a server that does not say. */
  previousVersionIds?: readonly string[]
  updatedAt?: string
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

/** What going back without a tag means: the moves, and those that are made by the order of the versions alone. */
interface MovesBack {
  moves: Move[]
  /** Owners whose alias was moved, but does not say from where. */
  guessed: Owner[]
}

/**
 * Where an alias leads after going back by one release: owners that the release it leads to has changed go to the version that
 * the alias led to last before, among those that are older.
 */
export function movesBack(owners: readonly Owner[]): MovesBack {
  const current = owners
    .flatMap((owner) => currentVersion(owner) ?? [])
    .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))[0]
  const released = owners.filter((owner) => current !== undefined && currentVersion(owner)?.tag === current.tag)
  return {
    moves: released.map((owner) => ({ owner, to: versionBefore(owner) })),
    guessed: released.filter((owner) => isUntold(owner) && versionBefore(owner) !== undefined),
  }
}

/** The version that the alias of an owner leads to. */
export function currentVersion({ versions, alias }: Owner): Version | undefined {
  return versions.find(({ id }) => id === alias?.versionId)
}

function versionBefore(owner: Owner): Version | undefined {
  const { versions, alias } = owner
  const older = versions.slice(versions.findIndex(({ id }) => id === alias?.versionId) + 1)
  if (isUntold(owner)) return older[0]
  return (alias?.previousVersionIds ?? []).flatMap((previous) => older.find(({ id }) => id === previous) ?? [])[0]
}

/** Whether an alias was changed by a server that did not keep where it led to. */
const isUntold = ({ alias }: Owner) => alias?.updatedAt !== undefined && alias.previousVersionIds === undefined
