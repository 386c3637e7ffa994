import * as fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import type { Version } from '../client/records.ts'
import { nth, type Real } from './machine.ts'
import type { Owner } from './name-owners.ts'

export interface KnownVersion {
  id: string
  tag: string
  value: number
}

export interface KnownAlias {
  id: string
  name: string
  versionId: string
}

/** Who bears which name of one process or module. */
export interface Names {
  /** Oldest first, as the aliases. */
  versions: KnownVersion[]
  aliases: KnownAlias[]
  /** Ids of what is gone. */
  gone: string[]
}

export interface OnNames extends Real {
  owner: Owner
}

export const words = ['a', 'b', 'c', 'd', 'e'] as const
export const word = fc.constantFrom(...words)
export const some = fc.nat(30)
export const value = fc.nat(1000)

/** A version in one of the ways in which it can be named, or one that is not there. */
export type Reference = { by: 'tag' | 'id' | 'gone' | 'none'; n: number }
export const reference: fc.Arbitrary<Reference> = fc.record({
  by: fc.constantFrom('tag', 'tag', 'id', 'id', 'gone', 'none'),
  n: some,
})

export function textOf({ by, n }: Reference, { versions, gone }: Names): string {
  if (by === 'tag') return nth(words, n)
  if (by === 'id' && versions.length > 0) return nth(versions, n).id
  return by === 'gone' && gone.length > 0 ? nth(gone, n) : randomUUID()
}

export const find = ({ versions }: Names, text: string) => versions.find(({ id, tag }) => id === text || tag === text)
export const aliasOf = ({ aliases }: Names, name: string) => aliases.find((alias) => alias.name === name)
export const isTaken = (names: Names, name: string) =>
  find(names, name) !== undefined || aliasOf(names, name) !== undefined
export const aliasesOf = ({ aliases }: Names, version: string) =>
  aliases.filter(({ versionId }) => versionId === version)

/** A version that was just published. */
export function published(names: Names, { client }: Real, { id, tag }: Version, value: number): void {
  client.trace.name(id, `version${names.versions.length + names.gone.length + 1}`)
  names.versions.push({ id, tag, value })
}

/** A version that was just deleted. */
export function forget(names: Names, version: KnownVersion): void {
  names.versions = names.versions.filter((each) => each !== version)
  names.gone.push(version.id)
}
