import * as fc from 'fast-check'
import type { Alias, Version } from '../client/records.ts'
import { agree, wordOf } from './agree.ts'
import { aliasesOf, forget, isTaken, published, some, word, type Names, type OnNames } from './known-names.ts'
import { nth, steps } from './machine.ts'

/** A tag and an alias of one name at once: one of them is there. */
const sameName = steps<Names, OnNames, [string, number]>(
  'publish and point at once',
  fc.tuple(word, some),
  ([name, n]) => ({
    may: (names) => names.versions.length > 0 && !isTaken(names, name),
    run: async (names, { client, owner }) => {
      const { id: versionId } = nth(names.versions, n)
      const [version, alias] = await Promise.all([
        client.post<Version>(`${owner.path}/versions`, { tag: name, sourceCode: owner.sourceOf(n) }),
        client.post<Alias>(`${owner.path}/aliases`, { name, versionId }),
      ])
      const made = [version, alias].filter(({ status }) => status === 201).length
      agree(made, 1, `who has the name: ${wordOf(version)} and ${wordOf(alias)}`)
      if (version.status === 201) published(names, { client }, version.body, n)
      else names.aliases.push({ id: alias.body.id, name, versionId })
    },
  }),
)

/** A version is deleted while an alias is pointed at it: never is there an alias of nothing. */
const deleteAndPoint = steps<Names, OnNames, [string, number]>(
  'delete and point at once',
  fc.tuple(word, some),
  ([name, n]) => ({
    may: (names) => names.versions.some(({ id }) => aliasesOf(names, id).length === 0) && !isTaken(names, name),
    run: async (names, { client, owner }) => {
      const version = nth(
        names.versions.filter(({ id }) => aliasesOf(names, id).length === 0),
        n,
      )
      const [deleted, alias] = await Promise.all([
        client.delete(`${owner.path}/versions/${version.id}`),
        client.post<Alias>(`${owner.path}/aliases`, { name, versionId: version.id }),
      ])
      const both = `${deleted.status} and ${wordOf(alias)}`
      if (deleted.status === 200) {
        agree(both, '200 and 404 version_not_found', 'deleting and pointing')
        forget(names, version)
      } else {
        agree(both, '400 and 201', 'deleting and pointing')
        names.aliases.push({ id: alias.body.id, name, versionId: version.id })
      }
    },
  }),
)

export const raceSteps = [sameName, deleteAndPoint]
